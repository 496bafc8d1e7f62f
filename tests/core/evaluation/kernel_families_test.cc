// Kernel and link families are files: inheritance, selection by name, and the issue for a wrong name.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/catalogue/presets.h"
#include "core/collectives/fabric.h"
#include "core/operators/attention.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/scenario/parse_scenario.h"
#include "tests/core/preset.h"

namespace slipstick {
namespace {

Json On(const char* architecture) {
  return Json{{"model", "llama-3.1-8b"},
              {"cluster", {{"preset", "dgx-h100"}, {"device", {{"architecture", architecture}}}}}};
}

TEST(KernelFamilies, AWrongNameIsAnIssueWithItsPathTheNamesAndTheNearest) {
  const Result<Scenario> scenario = ParseScenario(On("hoper"));
  ASSERT_FALSE(scenario);
  ASSERT_EQ(scenario.issues.size(), 1u);
  EXPECT_EQ(scenario.issues[0].path, "cluster.device.architecture");
  ASSERT_FALSE(scenario.issues[0].fixes.empty());
  EXPECT_EQ(scenario.issues[0].fixes[0].change.path, "cluster.device.architecture");
  EXPECT_EQ(scenario.issues[0].fixes[0].change.value, "\"hopper\"");
  for (const Json& family : PresetCatalogue("kernel")) {
    EXPECT_NE(scenario.issues[0].message.find(TextOf(family["id"])), std::string::npos) << scenario.issues[0].message;
  }
}

TEST(KernelFamilies, AreOneChoiceOfTheDevice) {
  Json described = Json::array();
  Describe<Cluster>("cluster", described);
  const auto row = std::find_if(described.begin(), described.end(),
                                [](const Json& one) { return one["path"] == "cluster.device.architecture"; });
  ASSERT_NE(row, described.end());
  EXPECT_EQ((*row)["kind"], "choice");
  EXPECT_EQ((*row)["choices"].size(), PresetCatalogue("kernel").size());
  const Result<Scenario> scenario = ParseScenario(On("ampere"));
  ASSERT_TRUE(scenario);
  EXPECT_EQ(Write(scenario->cluster.device)["architecture"], "ampere");
}

// A family inherits from the one it names. Hopper's int8 GEMM rate is in its own file, its row conversions and
// per-tensor fp8 in the generic file; Gaudi's attention is TPU's.
TEST(KernelFamilies, InheritFromTheFamilyTheyName) {
  const GemmTable& hopper = Architecture("hopper")->gemm;
  EXPECT_DOUBLE_EQ(hopper.int8.gemm_efficiency, 0.63);
  EXPECT_DOUBLE_EQ(In(hopper.int8.extra_overhead, kUs), 8);
  EXPECT_DOUBLE_EQ(In(*hopper.int8.extra_overhead_few_rows, kUs), 4);
  EXPECT_DOUBLE_EQ(In(hopper.fp8_tensor.extra_overhead, kUs), 10.6);
  EXPECT_DOUBLE_EQ(Architecture("gaudi")->attention.prefill.generic.tail.base(), 0);
  EXPECT_TRUE(Architecture("gaudi")->traits.has_l2);
  EXPECT_FALSE(Architecture("tpu")->attention.prefill.flashinfer);
  EXPECT_TRUE(Architecture("ampere")->attention.prefill.flashinfer);
}

// Each family has a kernel for every format, library and pass: times are positive and finite.
TEST(KernelFamilies, HaveEveryKernel) {
  for (const std::string_view name : Architecture::Names()) {
    Device device = FromPreset<Device>("b200-sxm");
    device.architecture = Architecture(name);
    device.efficiency = {};
    device.peak.int4 = device.peak.int8;
    CompleteEfficiency(device);
    for (const auto& [precision, text] : EnumNames<Precision>::names) {
      for (const auto& [weights, weights_text] : EnumNames<Precision>::names) {
        if (BytesPerElement(weights) > BytesPerElement(precision)) continue;
        for (const ExpertLibrary library : {ExpertLibrary::kTrtllm, ExpertLibrary::kFlashInfer}) {
          MoeLayer layer;
          layer.tokens = 64, layer.product.precision = precision, layer.product.weights = weights,
          layer.library = library;
          const double time = TimeOf(layer, device).time.base();
          EXPECT_TRUE(time > 0 && time < 1) << name << " " << text << " " << weights_text;
        }
      }
      for (const auto& [library, library_text] : EnumNames<AttentionLibrary>::names) {
        for (const auto& [phase, phase_text] : EnumNames<AttentionPhase>::names) {
          Attention attention;
          attention.phase = phase, attention.library = library,
          attention.precision = attention.kv_precision = precision;
          attention.heads = 8, attention.kv_heads = 2, attention.kv_len = 1024;
          attention.q_len = phase == AttentionPhase::kDecode ? 1 : 1024;
          const double time = TimeOf(attention, device).time.base();
          EXPECT_TRUE(time > 0 && time < 1) << name << " " << text << " " << library_text << " " << phase_text;
        }
      }
    }
  }
}

// Links inherit too: more than two ranks behind one PCIe root get 0.55 of it, at NVLink's protocol rates; NICs scale
// out.
TEST(Fabrics, InheritFromTheFabricTheyName) {
  const Fabric pcie("pcie"), tcp("tcp");
  EXPECT_DOUBLE_EQ(pcie->ring.shared_root_port_fraction, 0.55);
  EXPECT_DOUBLE_EQ(In(pcie->setup, kUs), 4);
  EXPECT_DOUBLE_EQ(pcie->ring.simple_efficiency, Fabric("nvlink")->ring.simple_efficiency);
  EXPECT_TRUE(tcp->scales_out);
  EXPECT_DOUBLE_EQ(tcp->scale_out.nic_efficiency, 0.7);
  EXPECT_EQ(Fabric(), Fabric("generic"));
  for (const std::string_view name : Fabric::Names()) {
    const Fabric fabric(name);
    EXPECT_EQ(fabric.name(), name);
    EXPECT_GT(fabric->ring.simple_efficiency, 0) << name;
    EXPECT_LE(fabric->ring.simple_efficiency, 1) << name;
  }
}

}  // namespace
}  // namespace slipstick
