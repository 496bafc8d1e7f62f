// Several classes of requests on the same engines, by hand.
#include "core/serving/mixed_traffic.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

ServingReport ServeMixture(const Assignments& assignments, const std::vector<RequestClass>& mixture) {
  Result<Scenario> scenario = ScenarioOf(assignments);
  if (!scenario) {
    ADD_FAILURE() << scenario.issues.front().path << ": " << scenario.issues.front().message;
    return {};
  }
  scenario->serving->mixture = mixture;
  return EvaluateServing(scenario->model, scenario->cluster, *scenario->serving, false);
}

const Assignments kOneCard{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.precision.weights=bf16",
                           "serving.precision.activations=bf16"};

// One request at a time with one output token is an M/G/1 queue. With service S of each class, W = rate E[S^2] / (2 (1
// - rho)) (Pollaczek and Khinchine); here S varies more than in an M/M/1 queue.
TEST(MixedTraffic, WaitsByPollaczekAndKhinchine) {
  const Assignments one{"serving.engine=ideal", "serving.max_requests=1", "serving.output=1"};
  const auto service = [&](const char* prompt) {
    return Serve(kOneCard + one + Assignments{std::string("serving.prompt=") + prompt, "serving.concurrency=1"})
        .ttft.base();
  };
  const double small = service("256"), large = service("16384"), share = 0.05, rate = 5;
  const double mean = (1 - share) * small + share * large, square = (1 - share) * small * small + share * large * large,
               rho = rate * mean;
  ASSERT_GT(square / (mean * mean), 2);
  ASSERT_LT(rho, 0.9);
  const double wait = rate * square / (2 * (1 - rho));
  const ServingReport mixed =
      ServeMixture(kOneCard + one + Assignments{"serving.requests_per_s=5"}, {{1 - share, 256, 1}, {share, 16384, 1}});
  EXPECT_NEAR(mixed.utilization, rho, 1e-3);
  EXPECT_NEAR(mixed.classes[0].ttft.base(), small + wait, 0.01 * wait);
  EXPECT_NEAR(mixed.classes[1].ttft.base(), large + wait, 0.01 * wait);
  EXPECT_NEAR(mixed.ttft.base(), mean + wait, 0.01 * wait);
}

// Half of the arrivals are chat (prompt 200, output 1,000), half summaries (4,000 and 20). Nearly all requests in
// flight are chat. A token has 131,072 bytes of KV cache (2 x 8 heads x 128 x 32 layers in 16 bit). A request holds its
// prompt and half of its output in pages of 16: 704 tokens of chat, 4,016 of a summary.
TEST(MixedTraffic, HoldsTheKvCacheOfThoseInFlight) {
  const ServingReport mixed = ServeMixture(kOneCard + Assignments{"serving.engine=vllm", "serving.requests_per_s=10"},
                                           {{0.5, 200, 1000}, {0.5, 4000, 20}});
  const double chat = mixed.classes[0].in_flight, summaries = mixed.classes[1].in_flight;
  EXPECT_GT(chat, 15 * summaries);
  EXPECT_NEAR(mixed.kv_cache.base() / (131072 * (704 * chat + 4016 * summaries)), 1, 0.01);
}

// Arrivals are so rare that no request meets another.
TEST(MixedTraffic, EqualsItsClassesAloneWhereArrivalsAreRare) {
  const Assignments rare = kOneCard + Assignments{"serving.engine=vllm", "serving.requests_per_s=0.0001"};
  const ServingReport mixed = ServeMixture(rare, {{0.25, 1000, 300}, {0.75, 8000, 200}}),
                      chat = Serve(rare + Assignments{"serving.prompt=1000", "serving.output=300"}),
                      summary = Serve(rare + Assignments{"serving.prompt=8000", "serving.output=200"});
  EXPECT_NEAR(mixed.classes[0].ttft / chat.ttft, 1, 1e-3);
  EXPECT_NEAR(mixed.classes[0].tpot / chat.tpot, 1, 1e-3);
  EXPECT_NEAR(mixed.classes[1].ttft / summary.ttft, 1, 1e-3);
  EXPECT_NEAR(mixed.classes[1].tpot / summary.tpot, 1, 1e-3);
  EXPECT_NEAR(mixed.tpot.base(), 0.25 * chat.tpot.base() + 0.75 * summary.tpot.base(), 1e-3 * mixed.tpot.base());
}

// The capacity in requests/s lies between the capacities of the classes: their harmonic mean, if a request's time does
// not depend on the mix.
TEST(MixedTraffic, HasACapacityBetweenThoseOfItsClasses) {
  for (const char* engine : {"vllm", "sglang", "trtllm", "ideal", "trtllm-0.9"}) {
    const Assignments flood =
        kOneCard + Assignments{std::string("serving.engine=") + engine, "serving.requests_per_s=1000000"};
    const double chat = Serve(flood + Assignments{"serving.prompt=1000", "serving.output=300"}).requests_per_s,
                 summary = Serve(flood + Assignments{"serving.prompt=8000", "serving.output=200"}).requests_per_s;
    double before = summary;
    for (const double share : {0.1, 0.5, 0.9}) {
      const ServingReport mixed = ServeMixture(flood, {{share, 1000, 300}, {1 - share, 8000, 200}});
      EXPECT_GT(mixed.requests_per_s, before) << engine;
      EXPECT_EQ(mixed.infeasible.front().reason, "rate");
      EXPECT_NEAR(mixed.requests_per_s * (share / chat + (1 - share) / summary), 1, 0.15) << engine << share;
      before = mixed.requests_per_s;
    }
    EXPECT_GT(chat, before) << engine;
  }
}

TEST(MixedTraffic, FitsWhereItsLongestRequestDoes) {
  const Assignments small{"cluster=single-rtx-4090", "model=llama-3.1-8b", "serving.engine=vllm",
                          "serving.requests_per_s=1"};
  EXPECT_TRUE(ServeMixture(small, {{0.5, 1000, 100}, {0.5, 2000, 100}}).infeasible.empty());
  const ServingReport longer = ServeMixture(small, {{0.99, 1000, 100}, {0.01, 120000, 100}});
  ASSERT_FALSE(longer.infeasible.empty());
  EXPECT_EQ(longer.infeasible.front().reason, "kv_cache");
}

}  // namespace
}  // namespace slipstick
