// Admission where the KV cache may be in host memory: an engine runs the number of requests that serves most, at most
// what fits.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

std::vector<std::string> Loop(const std::string& capacity, const std::vector<std::string>& more = {}) {
  const std::vector<std::string> load{"model=llama-3.1-70b",
                                      "cluster=dgx-h100",
                                      "cluster.devices=4",
                                      "serving.devices=4",
                                      "serving.mapping.tp=4",
                                      "serving.engine=vllm",
                                      "serving.prompt=16000",
                                      "serving.output=500",
                                      "serving.precision.weights=fp8",
                                      "serving.precision.activations=fp8"};
  return load +
         (capacity.empty() ? std::vector<std::string>{}
                           : std::vector<std::string>{"serving.kv_offload.capacity=" + capacity}) +
         more;
}

// Admitting every request whose KV cache fits somewhere would serve less: 404 tokens/s without offload once fell to 231
// with 8 GB and to 49 with 256 GB or more.
TEST(OffloadAdmission, MoreHostMemoryNeverServesLess) {
  for (const std::string load :
       {"serving.concurrency=256", "serving.requests_per_s=5", "serving.batch=max", "serving.waves=4"}) {
    std::vector<std::string> more{load};
    if (load == "serving.waves=4") more.emplace_back("serving.concurrency=256");
    double before = Serve(Loop("", more)).tokens_per_s.base();
    for (const char* capacity :
         {"1 GB", "4 GB", "8 GB", "12 GB", "16 GB", "40 GB", "64 GB", "100 GB", "256 GB", "400 GB"}) {
      const ServingReport report = Serve(Loop(capacity, more));
      EXPECT_GE(report.tokens_per_s.base(), before * (1 - 1e-9)) << load << " " << capacity;
      EXPECT_TRUE(report.infeasible.empty() || load == "serving.requests_per_s=5") << load << " " << capacity;
      before = report.tokens_per_s.base();
    }
  }
}

// A stated batch runs together, wherever its KV cache is.
TEST(OffloadAdmission, AStatedBatchRunsTogether) {
  const ServingReport report = Serve(Loop("100 GB", {"serving.batch=64"}));
  EXPECT_EQ(report.batch, 64);
  EXPECT_GT(report.kv_offload.exposed, Seconds());
}

// Llama-3.1-8B caches 131,072 bytes per token in 16 bit: half of 8,192 tokens takes 0.5 GiB, 2 GiB for four running
// requests.
TEST(PrefixHit, WithoutKeptPrefixesSaysWhatTheyWouldTake) {
  const std::vector<std::string> hit{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.batch=4",
                                     "serving.mapping.tp=1",          "serving.devices=1",  "serving.prompt=8192",
                                     "serving.prefix_hit=0.5"};
  const auto said = [](const std::vector<std::string>& assignments) {
    for (const std::string& text : Serve(assignments).warnings)
      if (text.starts_with("serving.prefix_hit")) return text;
    return std::string();
  };
  const std::string text = said(hit);
  EXPECT_NE(text.find("0.5 rests on prefixes"), std::string::npos) << text;
  EXPECT_NE(text.find("one of 4,096 tokens"), std::string::npos) << text;
  EXPECT_NE(text.find("takes 0.5 GiB"), std::string::npos) << text;
  EXPECT_NE(text.find("4 running requests 2 GiB"), std::string::npos) << text;
  EXPECT_EQ(said(hit + std::vector<std::string>{"serving.prefix_cache.prefixes=4"}), "");
  EXPECT_EQ(said(hit + std::vector<std::string>{"serving.prefix_hit=0"}), "");
}

}  // namespace
}  // namespace slipstick
