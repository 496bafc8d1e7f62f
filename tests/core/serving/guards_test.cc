// Monotonicity on random deployments, without tolerance unless one is named: more load is never faster, and a larger
// batch never has a shorter step. tests/core/evaluation checks that better hardware is never slower.
#include <cmath>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

constexpr int kDeployments = 300;
constexpr double kRounding = 1 + 1e-9;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  std::string One(std::initializer_list<const char*> values) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return *(values.begin() + (state_ >> 33) % values.size());
  }

 private:
  std::uint64_t state_;
};

// A valid random deployment.
std::vector<std::string> Drawn(std::uint64_t seed) {
  Dice dice(seed);
  const std::string tp = dice.One({"1", "2", "4", "8"});
  return {
      "cluster=" + dice.One({"dgx-a100", "dgx-h100", "dgx-b200", "hgx-mi300x", "pcie-server"}),
      "model=" + dice.One({"llama-3.1-8b", "llama-2-7b", "mistral-7b", "mixtral-8x7b", "gpt-oss-20b", "qwen2.5-14b"}),
      "serving.engine=" + dice.One({"vllm", "sglang", "trtllm", "trtllm-0.9", "lmdeploy", "ideal"}),
      "serving.prompt=" + dice.One({"1", "100", "1024", "3000", "8192"}),
      "serving.output=" + dice.One({"1", "7", "128", "1024"}),
      "serving.precision.weights=" + dice.One({"bf16", "fp8", "int4"}),
      "serving.precision.kv_cache=" + dice.One({"bf16", "fp8"}),
      "serving.mapping.tp=" + tp,
      "serving.devices=" + tp};
}
std::string Drawn(const std::vector<std::string>& drawn) {
  std::string text;
  for (const std::string& one : drawn) text += one + ' ';
  return text;
}

TEST(ServingGuards, MoreLoadIsNeverSooner) {
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    const std::vector<std::string> drawn = Drawn(seed);
    for (const char* waves : {"serving.waves=null", "serving.waves=8"}) {
      Seconds ttft, tpot;
      for (const char* concurrency : {"1", "2", "3", "5", "8", "9", "16", "33", "64", "200", "1000", "5000"}) {
        const ServingReport report =
            Serve(drawn + std::vector<std::string>{waves, std::string("serving.concurrency=") + concurrency});
        EXPECT_GE(report.ttft * kRounding, ttft) << Drawn(drawn) << waves << " concurrency " << concurrency;
        EXPECT_GE(report.tpot * kRounding, tpot) << Drawn(drawn) << waves << " concurrency " << concurrency;
        ttft = report.ttft, tpot = report.tpot;
      }
    }
  }
}

TEST(ServingGuards, MoreArrivalsAreNeverSooner) {
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    const std::vector<std::string> drawn = Drawn(seed);
    if (!Serve(drawn + std::vector<std::string>{"serving.batch=max"}).infeasible.empty()) continue;
    const double capacity = Serve(drawn + std::vector<std::string>{"serving.requests_per_s=1000000"}).requests_per_s;
    Seconds ttft, tpot;
    for (const double load :
         {0.1, 0.5, 0.8, 0.9, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99, 0.992, 0.994, 0.996, 0.997, 0.998, 0.999}) {
      const ServingReport report =
          Serve(drawn + std::vector<std::string>{"serving.requests_per_s=" + std::to_string(load * capacity)});
      EXPECT_GE(report.ttft * kRounding, ttft) << Drawn(drawn) << load << " of capacity";
      EXPECT_GE(report.tpot * kRounding, tpot) << Drawn(drawn) << load << " of capacity";
      ttft = report.ttft, tpot = report.tpot;
    }
  }
}

// More host memory may hold more sequences, and then a step waits for the link. A load that less host memory sustains
// must stay feasible.
TEST(ServingGuards, MoreHostMemoryServesWhateverLessServed) {
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    Dice dice(seed + 3000);
    std::vector<std::string> drawn =
        Drawn(seed) + std::vector<std::string>{"serving.requests_per_s=" + dice.One({"0.1", "0.5", "2", "10", "30"}),
                                               "serving.kv_offload.bandwidth=" + dice.One({"25 GB/s", "63 GB/s"})};
    if (seed % 2 == 0) {
      drawn = drawn + std::vector<std::string>{"cluster.devices=16", "serving.devices=16",
                                               "serving.disaggregated.prefill_devices=8",
                                               "serving.disaggregated.decode_devices=8"};
    }
    bool served = false;
    for (const char* capacity : {"4 GB", "16 GB", "32 GB", "64 GB", "80 GB", "128 GB", "256 GB", "1 TB"}) {
      const ServingReport report =
          Serve(drawn + std::vector<std::string>{std::string("serving.kv_offload.capacity=") + capacity});
      EXPECT_TRUE(!served || report.infeasible.empty()) << Drawn(drawn) << capacity;
      served = report.infeasible.empty();
    }
  }
}

// Accepted drafts leave fewer steps for the same number of prompts: more of the steps contain a prompt.
TEST(ServingGuards, WithDraftsMoreRequestsTakeNoLessTimePerToken) {
  constexpr double kTiles = 1.005;  // a verified batch may fill its tiles better
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    Dice dice(seed + 1000);
    const std::vector<std::string> drawn =
        Drawn(seed) + std::vector<std::string>{"serving.speculative.draft_tokens=" + dice.One({"1", "3", "7"}),
                                               "serving.speculative.acceptance=" + dice.One({"0.3", "0.6", "0.8", "1"}),
                                               "serving.speculative.draft_cost=" + dice.One({"0", "0.1", "0.3"})};
    Seconds tpot;
    for (const char* concurrency : {"1", "2", "3", "5", "8", "9", "16", "33", "64", "100", "200", "256"}) {
      const ServingReport report =
          Serve(drawn + std::vector<std::string>{std::string("serving.concurrency=") + concurrency});
      EXPECT_GE(report.tpot * kTiles, tpot) << Drawn(drawn) << "concurrency " << concurrency;
      tpot = report.tpot;
    }
  }
}

// A prompt just beyond the end of a chunk adds a chunk; the chunks before it stay whole, and the pipeline fills no
// faster.
TEST(ServingGuards, OneMoreChunkNeverShortensAPrefill) {
  constexpr double kTiles = 1.02;  // equal parts of a prompt may fill their tiles better than a whole chunk
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    Dice dice(seed + 2000);
    const std::string tp = dice.One({"1", "2", "4"}), chunk = dice.One({"64", "256", "512", "1024", "2048", "8192"});
    const std::vector<std::string> drawn{
        "cluster=" + dice.One({"dgx-a100", "dgx-h100", "dgx-b200", "hgx-mi300x", "tpu-v5e-pod"}),
        "model=" + dice.One({"llama-3.1-8b", "llama-2-7b", "mistral-7b", "qwen2.5-14b"}),
        "serving.engine=" + dice.One({"vllm", "sglang", "trtllm", "ideal"}),
        "serving.batch=" + dice.One({"1", "8"}),
        "serving.mapping.tp=" + tp,
        "serving.mapping.pp=2",
        "serving.devices=" + std::to_string(2 * std::stoi(tp)),
        "serving.prefill_chunk=" + chunk};
    Seconds prefill;
    for (const double chunks :
         {0.5, 0.99, 1.0, 1.001, 1.1, 1.5, 1.99, 2.0, 2.001, 2.1, 3.0, 3.001, 4.0, 4.01, 8.0, 8.01}) {
      const int prompt = static_cast<int>(std::ceil(chunks * std::stod(chunk)));
      const ServingReport report = Serve(drawn + std::vector<std::string>{"serving.prompt=" + std::to_string(prompt)});
      EXPECT_GE(report.prefill * kTiles, prefill) << Drawn(drawn) << "prompt " << prompt;
      prefill = report.prefill;
    }
  }
}

TEST(ServingGuards, ALargerBatchNeverShortensAStep) {
  for (std::uint64_t seed = 0; seed < kDeployments; ++seed) {
    const std::vector<std::string> drawn = Drawn(seed);
    Seconds step, latency;
    for (const char* batch :
         {"1", "2", "3", "4", "7", "8", "12", "16", "24", "32", "48", "64", "65", "100", "128", "200", "256"}) {
      const ServingReport report = Serve(drawn + std::vector<std::string>{std::string("serving.batch=") + batch});
      EXPECT_GE(report.decode_step * kRounding, step) << Drawn(drawn) << "batch " << batch;
      EXPECT_GE(report.static_latency * kRounding, latency) << Drawn(drawn) << "batch " << batch;
      step = report.decode_step, latency = report.static_latency;
    }
  }
}

}  // namespace
}  // namespace slipstick
