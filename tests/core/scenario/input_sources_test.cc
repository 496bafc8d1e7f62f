// Every input that a derivation leads to names its source where the catalogue has one, until the request changes it.
#include "core/scenario/input_sources.h"

#include <gtest/gtest.h>

#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

TEST(InputSources, AreThoseOfTheCatalogueEntry) {
  const Json scenario = Ask(Json::object())["scenario"];
  const auto sources = InputSources(scenario);
  const auto has = [&](const char* path, const char* text) {
    const auto found = sources.find(path);
    return found != sources.end() && found->second.find(text) != std::string_view::npos;
  };
  EXPECT_TRUE(has("cluster.device.units", "132 of 144 SMs"));
  EXPECT_TRUE(has("cluster.device.memory.usable", "data sheet"));
  EXPECT_TRUE(has("cluster.device.efficiency.matrix", "228 bf16 GEMM rows"));
  EXPECT_TRUE(
      has("cluster.device.efficiency.cache_share", "attention tables"));  // a member's source wins over the whole's
  EXPECT_TRUE(has("serving.engine.prefill_gap", "silicon samples"));
  EXPECT_TRUE(has("serving.engine.second_pass", "custom all-reduce"));
  EXPECT_TRUE(has("training.framework.exchange.tensor_exposed", "fitted to the same steps"));
  EXPECT_TRUE(has("training.framework.jitter", ""));  // the standard has the value, and its entry cites no source
}

TEST(InputSources, EndWhereTheVisitorChangesTheNumber) {
  const Json scenario = Ask(*ParseJson(
      R"({"cluster": {"preset": "dgx-h100", "device": {"preset": "h100-sxm5-80gb", "units": 144}}})"))["scenario"];
  const auto sources = InputSources(scenario);
  EXPECT_FALSE(sources.contains("cluster.device.units"));
  EXPECT_TRUE(sources.contains("cluster.device.memory.usable"));
}

TEST(InputSources, StandBesideTheExplanations) {
  const Json report = Ask(Json::object(), "serving.tpot_s");
  const Json* source = FindMember(report["sources"], "cluster.device.efficiency.stream");
  ASSERT_NE(source, nullptr);
  EXPECT_NE(TextOf(*source).find("fitted to"), std::string::npos);
}

}  // namespace
}  // namespace slipstick::testing
