// Weights and activations in different formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Formats that differ in their scales alone are one product: MI300X computes mxfp8 in fp8.
TEST(DecodeStep, MultipliesFp8WeightsWithMxfp8ActivationsAsFp8) {
  const auto step = [](const std::string& activations) {
    return Serve({"cluster=hgx-mi300x", "model=llama-3.1-8b", "serving.devices=1", "serving.mapping.tp=1", "serving.engine=vllm",
                  "serving.batch=8", "serving.precision.weights=fp8", "serving.precision.activations=" + activations})
        .decode_step;
  };
  EXPECT_NEAR(step("mxfp8") / step("fp8"), 1, 0.001);
}

bool HasWarning(const std::string& weights, const std::string& activations, const std::string& part) {
  const ServingReport report = Serve({"cluster=dgx-h100", "model=llama-3.1-8b", "serving.devices=1", "serving.mapping.tp=1",
                                      "serving.precision.weights=" + weights, "serving.precision.activations=" + activations});
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(Warnings, SayThatWiderWeightsAreConverted) {
  const std::string part = "as if the weights were converted";
  EXPECT_TRUE(HasWarning("bf16", "fp8", part));
  EXPECT_TRUE(HasWarning("int8", "fp8", part));
  EXPECT_FALSE(HasWarning("fp8", "fp8", part));
  EXPECT_FALSE(HasWarning("fp8", "mxfp8", part));
  EXPECT_FALSE(HasWarning("bf16", "bf16", part));
  EXPECT_FALSE(HasWarning("int4", "fp8", part));
}

}  // namespace
}  // namespace slipstick
