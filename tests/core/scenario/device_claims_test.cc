// What a report says about its device: assumed inputs, the format used in place of one that the device lacks, and the
// rates that its libraries reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/api.h"
#include "core/evaluation/evaluate.h"
#include "core/scenario/answer.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Json ReportOf(const Assignments& assignments, std::string_view explain = "") {
  const Answer answer = EvaluateAnswer(R"({"version": 1})", assignments, explain);
  for (const Issue& issue : answer.issues)
    ADD_FAILURE() << assignments.front() << ": " << issue.path << " " << issue.message;
  return *ParseJson(answer.text);
}

std::set<std::string> Texts(const Json& list) {
  std::set<std::string> texts;
  for (const Json& text : list) texts.insert(text.get<std::string>());
  return texts;
}

// A small model on one device, for training and serving.
Assignments On(const std::string& device) {
  return {"model=llama-3.2-1b",
          "cluster=single-" + device,
          "training.mapping.tp=1",
          "training.mapping.pp=1",
          "training.mapping.virtual_stages=1",
          "training.mapping.sequence_parallel=false",
          "training.global_batch=2",
          "training.sequence=1024",
          "serving.mapping.tp=1",
          "serving.devices=1"};
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Assumed, FiguresOfAnUnmeasuredDeviceCiteTheRuleAndNoFit) {
  const Json report = ReportOf(On("jetson-thor"), "*");
  int assumed = 0;
  for (const Json& figure : report["explanations"]) {
    const std::string path = figure["path"].get<std::string>(), source = figure["source"].get<std::string>();
    for (const Json& term : figure["terms"]) {
      if (!term["origin"].get<std::string>().starts_with("cluster.device.efficiency.")) continue;
      if (term["origin"] == Json("cluster.device.efficiency.cache_share")) continue;  // stated in the preset
      EXPECT_TRUE(source.starts_with("assumed from the data sheet: ")) << path << ": " << source;
      ++assumed;
    }
    for (const char* fit : {"kernel tables", "attention tables", "aiconfigurator tables", "generation tables",
                            "FlashAttention", "vidur"}) {
      EXPECT_FALSE(Has(source, fit)) << path << ": " << source;
    }
  }
  EXPECT_GT(assumed, 20);
}

TEST(Assumed, IdealGemmTimeUsesTheAssumedEfficiency) {
  const Json report = ReportOf(On("jetson-thor"), "*");
  int products = 0;
  for (const Json& figure : report["explanations"]) {
    if (figure["symbol"] != Json("ideal_compute_time")) continue;
    ++products;
    EXPECT_FALSE(Has(figure["source"].get<std::string>(), "fitted")) << figure["source"].get<std::string>();
    for (const Json& term : figure["terms"]) {
      if (term["symbol"] == Json("gemm_efficiency_of_this_kernel")) {
        EXPECT_NE(term["origin"].get<std::string>(), "");
      }
    }
  }
  EXPECT_GT(products, 5);
}

TEST(Assumed, AMeasuredDeviceCitesItsFits) {
  const Json report = ReportOf(On("h100-sxm5-80gb"), "*");
  bool fitted = false;
  for (const Json& figure : report["explanations"]) {
    const std::string source = figure["source"].get<std::string>();
    EXPECT_FALSE(Has(source, "assumed") || Has(source, "not measured"))
        << figure["path"].get<std::string>() << ": " << source;
    fitted = fitted || Has(source, "fitted to ai-dynamo/aiconfigurator kernel tables");
  }
  EXPECT_TRUE(fitted);
  for (const char* part : {"training", "serving"}) EXPECT_EQ(report[part]["assumed"].size(), 0u) << part;
}

// The preset of Jetson Thor states its usable memory but has no measured efficiency.
TEST(Assumed, PartsOfAReportListAssumedInputs) {
  const Json report = ReportOf(On("jetson-thor"));
  EXPECT_EQ(Texts(report["training"]["assumed"]),
            (std::set<std::string>{"cluster.device.efficiency.matrix", "cluster.device.efficiency.sustained_fall",
                                   "cluster.device.efficiency.rated_power", "cluster.device.efficiency.stream",
                                   "cluster.device.efficiency.attention_forward",
                                   "cluster.device.efficiency.attention_backward"}));
  EXPECT_EQ(Texts(report["serving"]["assumed"]),
            (std::set<std::string>{"cluster.device.efficiency.matrix", "cluster.device.efficiency.matrix_fp8",
                                   "cluster.device.efficiency.sustained_fall", "cluster.device.efficiency.rated_power",
                                   "cluster.device.efficiency.stream", "cluster.device.efficiency.launch",
                                   "cluster.device.efficiency.decode_stream", "cluster.device.efficiency.cache_stream",
                                   "cluster.device.efficiency.cache_share"}));
}

// Inputs that the presets' sources call estimates.
TEST(Assumed, CostsListEstimatedInputs) {
  const std::set<std::string> h100 = Texts(ReportOf(On("h100-sxm5-80gb"))["cost"]["assumed"]);
  for (const char* path : {"cost.device.module", "cost.device.design", "cost.device.package.steps"}) {
    EXPECT_TRUE(h100.contains(path)) << path;
  }
  for (const char* path :
       {"cost.device", "cost.device.price", "cost.device.dies", "cost.device.dies.0.node.mask_set"}) {
    EXPECT_FALSE(h100.contains(path)) << path;
  }
}

TEST(Assumed, AnEstimatedBillIsReportedAsAWhole) {
  const Json report = ReportOf(
      {"cluster.device={\"preset\":\"\",\"name\":\"mine\",\"peak\":{\"bf16\":\"500 "
       "TFLOP/s\"},\"memory\":{\"technology\":\"HBM3\","
       "\"capacity\":\"80 GB\",\"bandwidth\":\"3 TB/s\"},\"units\":100,\"clock\":\"1.5 GHz\",\"tdp\":\"500 W\","
       "\"die\":{\"area\":\"600 mm^2\",\"node\":\"5nm\"}}"});
  EXPECT_TRUE(Texts(report["cost"]["assumed"]).contains("cost.device"));
}

TEST(Assumed, WrittenInputsAreNoEstimates) {
  Assignments mine = On("h100-sxm5-80gb") + Assignments{"cost.device.module=321 $"};
  EXPECT_FALSE(Texts(ReportOf(mine)["cost"]["assumed"]).contains("cost.device.module"));
}

TEST(Assumed, AResolvedScenarioKeepsItsEstimates) {
  const Json report = ReportOf(On("h100-sxm5-80gb"));
  const Answer again = EvaluateAnswer(JsonText(report["scenario"]));
  ASSERT_TRUE(again.issues.empty());
  EXPECT_EQ((*ParseJson(again.text))["cost"]["assumed"], report["cost"]["assumed"]);
}

// Written inputs are not assumed. A layer-split engine does not use the device's cache share.
TEST(Assumed, WrittenEfficienciesAreNotAssumed) {
  const Json report = ReportOf(On("jetson-thor") + Assignments{"cluster.device.efficiency.matrix=0.8"});
  EXPECT_FALSE(Texts(report["training"]["assumed"]).contains("cluster.device.efficiency.matrix"));
  EXPECT_TRUE(Texts(report["training"]["assumed"]).contains("cluster.device.efficiency.stream"));
  EXPECT_EQ(
      ReportOf(On("jetson-thor") + Assignments{"serving.engine=llamacpp", "serving.batch=1"})["serving"]["assumed"]
          .size(),
      0u);
}

// A part lists an efficiency if and only if changing it changes the part's figures.
TEST(Assumed, IsListedExactlyWhereItHasAnEffect) {
  const Assignments base =
      On("jetson-thor") + Assignments{"serving.precision.activations=fp16", "serving.precision.weights=fp16"};
  const Json report = ReportOf(base);
  const Result<Json> request = ReadRequest(R"({"version": 1})", base);
  ASSERT_TRUE(request);
  for (const char* name : {"matrix", "matrix_fp8", "sustained_fall", "rated_power", "stream", "launch",
                           "attention_forward", "attention_backward", "decode_stream", "cache_stream", "cache_share"}) {
    const std::string path = std::string("cluster.device.efficiency.") + name;
    for (const char* part : {"training", "serving"}) {
      bool moves = false;
      for (const double factor : {0.5, 0.9, 1.1}) {
        Json moved = *request;
        SetPath(moved, path, factor * Number(report["scenario"], path));
        const Json other = Ask(moved);
        if (!other.contains(part)) continue;
        Json a = report[part], b = other[part];
        a.erase("assumed"), b.erase("assumed");
        moves = moves || JsonText(a) != JsonText(b);
      }
      if (Texts(report[part]["assumed"]).contains(path)) {
        EXPECT_TRUE(moves) << part << " " << path;
      } else {
        EXPECT_FALSE(moves) << part << " " << path;
      }
    }
  }
}

TEST(Assumed, KernelAnswersListTheirAssumedInputs) {
  const auto assumed = [](const char* device, const char* operation) {
    const std::string line =
        std::string(R"({"device": {"preset": ")") + device + R"("}, "operator": )" + operation + "}";
    return Texts((*ParseJson(KernelAnswer(line).text))["assumed"]);
  };
  const char* const product = R"({"kind": "gemm", "m": 4096, "n": 4096, "k": 4096, "precision": "bf16"})";
  const char* const decode =
      R"({"kind": "attention", "phase": "decode", "batch": 8, "kv_len": 4096, "heads": 32, "head_dim": 128})";
  EXPECT_EQ(
      assumed("jetson-thor", product),
      (std::set<std::string>{"device.efficiency.matrix", "device.efficiency.sustained_fall",
                             "device.efficiency.rated_power", "device.efficiency.stream", "device.efficiency.launch"}));
  EXPECT_EQ(assumed("jetson-thor", decode),
            (std::set<std::string>{"device.efficiency.decode_stream", "device.efficiency.cache_stream",
                                   "device.efficiency.cache_share"}));
  EXPECT_TRUE(assumed("h100-sxm5-80gb", product).empty());
  EXPECT_TRUE(assumed("h100-sxm5-80gb", decode).empty());
}

// Leaves out the warnings about memory and software, which depend on the run.
std::set<std::string> WarningsOf(const Assignments& assignments) {
  std::set<std::string> warnings = Texts(ReportOf(assignments)["warnings"]);
  std::erase_if(warnings, [](const std::string& one) {
    return one.starts_with("Training may ") || one.find(" does not run on ") != one.npos;
  });
  return warnings;
}

TEST(PrecisionWarnings, NameTheFormatThatTrainingUsesInstead) {
  const auto trained = [](const std::string& device, const std::string& precision) {
    return WarningsOf(On(device) + Assignments{"training.precision=" + precision, "serving=null"});
  };
  using Set = std::set<std::string>;
  EXPECT_EQ(trained("a100-sxm4-80gb", "fp8"),
            Set{"A100 SXM4 80 GB has no fp8 arithmetic: matrix products are computed in bf16."});
  EXPECT_EQ(trained("h100-sxm5-80gb", "nvfp4"),
            Set{"H100 SXM5 80 GB has no nvfp4 arithmetic: matrix products are computed in fp8."});
  EXPECT_EQ(trained("h100-sxm5-80gb", "mxfp8"),
            Set{"H100 SXM5 80 GB has no mxfp8 arithmetic: matrix products are computed in fp8."});
  EXPECT_EQ(trained("v100-sxm2-32gb", "bf16"),
            Set{"V100 SXM2 32 GB has no bf16 arithmetic: matrix products are computed in fp16."});
  EXPECT_EQ(trained("tpu-v4", "fp32"), Set{"TPU v4 has no fp32 arithmetic: matrix products are computed in bf16."});
  for (const char* precision : {"bf16", "fp8", "mxfp8", "nvfp4"})
    EXPECT_EQ(trained("b200-sxm", precision), Set{}) << precision;
  EXPECT_EQ(trained("h100-sxm5-80gb", "fp8"), Set{});
}

TEST(PrecisionWarnings, NameTheFormatThatServingUsesInsteadAndTheStoredOne) {
  const auto served = [](const std::string& device, const std::string& weights, const std::string& activations,
                         const std::string& cache = "bf16") {
    return WarningsOf(On(device) + Assignments{"training=null", "serving.precision.weights=" + weights,
                                               "serving.precision.activations=" + activations,
                                               "serving.precision.kv_cache=" + cache});
  };
  using Set = std::set<std::string>;
  EXPECT_EQ(served("a100-sxm4-80gb", "fp8", "fp8"), Set{"A100 SXM4 80 GB has no fp8 arithmetic: matrix products are "
                                                        "computed in bf16, and weights stay stored in fp8."});
  EXPECT_EQ(served("h100-sxm5-80gb", "nvfp4", "nvfp4"), Set{"H100 SXM5 80 GB has no nvfp4 arithmetic: matrix products "
                                                            "are computed in fp8, and weights stay stored in nvfp4."});
  EXPECT_EQ(served("a100-sxm4-80gb", "bf16", "bf16", "fp8"),
            Set{"A100 SXM4 80 GB has no fp8 arithmetic: the KV cache stays stored in fp8, and attention is computed in "
                "a wider format."});
  EXPECT_EQ(
      served("b200-sxm", "int4", "nvfp4"),
      Set{"Weights in int4 are dequantized as they are read: matrix products are computed in bf16, not in nvfp4."});
  EXPECT_EQ(
      served("h100-sxm5-80gb", "mxfp4", "mxfp4"),
      Set{"Weights in mxfp4 are dequantized as they are read: matrix products are computed in bf16, not in mxfp4."});
  EXPECT_EQ(served("a100-sxm4-80gb", "int4", "bf16"), Set{});  // computed as requested
  for (const char* device : {"mi355x", "b200-sxm"}) EXPECT_EQ(served(device, "mxfp4", "mxfp4"), Set{}) << device;
  EXPECT_EQ(served("h100-sxm5-80gb", "fp8", "fp8", "fp8"), Set{});
  EXPECT_EQ(served("b200-sxm", "nvfp4", "nvfp4"), Set{});
}

// Weights stay stored in the narrow format, in half the memory of 16-bit ones.
TEST(PrecisionWarnings, StoredWeightsKeepTheirSmallSize) {
  const auto weights = [](const char* format) {
    return Number(ReportOf(On("a100-sxm4-80gb") + Assignments{"model=llama-3.1-8b", "training=null",
                                                              std::string("serving.precision.weights=") + format}),
                  "serving.memory_bytes.weights");
  };
  EXPECT_LT(weights("fp8"), 0.6 * weights("bf16"));
}

TEST(PrecisionWarnings, AppearOnce) {
  const Assignments asked =
      On("v100-sxm2-32gb") +
      Assignments{"training.precision=bf16", "serving.precision.activations=bf16", "serving.precision.weights=bf16"};
  const Json warnings = ReportOf(asked)["warnings"];
  EXPECT_EQ(warnings.size(), Texts(warnings).size());
  EXPECT_EQ(WarningsOf(asked).size(), 1u);
}

// NVIDIA's whitepapers of GA102, Ada and RTX Blackwell: on GeForce cards, dense fp16 with fp32 accumulation has half
// the rate of fp16 accumulation and the rate of bf16. Workstation cards with the same dies have no such halving.
TEST(GeForce, SixteenBitRateIsWithFp32Accumulation) {
  const struct {
    const char* device;
    double rate;
  } cards[]{{"rtx-3090", 71.2e12}, {"rtx-4090", 165.2e12}, {"rtx-5090", 209.5e12}};
  for (const auto& card : cards) {
    const Json peak = ReportOf(On(card.device))["scenario"]["cluster"]["device"]["peak"];
    EXPECT_DOUBLE_EQ(Number(peak, "fp16"), card.rate) << card.device;
    EXPECT_DOUBLE_EQ(Number(peak, "bf16"), card.rate) << card.device;
    EXPECT_NEAR(Number(peak, "fp16_accumulate"), 2 * card.rate, 0.002 * card.rate) << card.device;
    const Json product = *ParseJson(
        KernelAnswer(std::string(R"({"device": {"preset": ")") + card.device +
                     R"("}, "operator": {"kind": "gemm", "m": 8192, "n": 8192, "k": 8192, "precision": "fp16"}})")
            .text);
    EXPECT_LT(Number(product, "flops") / Number(product, "time_s"), card.rate) << card.device;
  }
  EXPECT_DOUBLE_EQ(Number(ReportOf(On("rtx-6000-ada"))["scenario"], "cluster.device.peak.fp16"), 364.2e12);
}

// llama.cpp lets cuBLAS accumulate in fp16 and has that rate. With fp32 accumulation the same units come nearer to that
// format's peak, but not beyond it.
TEST(GeForce, OnlyAnEngineWithFp16AccumulationUsesThatRate) {
  const Assignments served =
      On("rtx-4090") + Assignments{"training=null", "serving.batch=1", "serving.precision.weights=fp16",
                                   "serving.precision.activations=fp16"};
  const auto prefill = [&](const std::string& engine, const std::string& rate) {
    return Number(
        ReportOf(served + Assignments{"serving.engine=" + engine, "cluster.device.peak.fp16_accumulate=" + rate}),
        "serving.prefill_s");
  };
  EXPECT_LT(prefill("llamacpp", "330.3 TFLOP/s"), prefill("llamacpp", "165.2 TFLOP/s"));
  EXPECT_LT(prefill("llamacpp", "1322 TFLOP/s"), prefill("llamacpp", "661 TFLOP/s"));
  EXPECT_LT(prefill("vllm", "330.3 TFLOP/s"), prefill("vllm", "165.2 TFLOP/s"));
  EXPECT_EQ(prefill("vllm", "1322 TFLOP/s"), prefill("vllm", "661 TFLOP/s"));
}

}  // namespace
}  // namespace slipstick::testing
