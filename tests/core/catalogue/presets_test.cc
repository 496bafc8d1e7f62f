// The catalogue: every entry reads through its field table and names its sources, and no permanent id is missing.
#include "core/catalogue/presets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/collectives/fabric.h"
#include "core/economics/cost_inputs.h"
#include "core/economics/interface.h"
#include "core/economics/rental.h"
#include "core/engine_step/request_stream.h"
#include "core/engine_step/serving_load.h"
#include "core/hardware/chip_design.h"
#include "core/hardware/cluster.h"
#include "core/operators/efficiency.h"
#include "core/operators/kernel_family_fields.h"
#include "core/software/engine.h"
#include "core/software/framework.h"
#include "core/workload/model.h"
#include "tests/core/preset.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using Reader = void (*)(std::string_view id, Issues& issues);
template <class T>
std::pair<const std::string_view, Reader> ReaderOf() {
  return {Schema<T>::preset_kind, [](std::string_view id, Issues& issues) { FromPreset<T>(id, issues); }};
}
// Add every struct with a preset kind here.
const std::map<std::string_view, Reader>& Readers() {
  static const std::map<std::string_view, Reader> readers{
      ReaderOf<Device>(),          ReaderOf<Model>(),        ReaderOf<Cluster>(),        ReaderOf<Engine>(),
      ReaderOf<Framework>(),       ReaderOf<ChipDesign>(),   ReaderOf<TechnologyNode>(), ReaderOf<DramType>(),
      ReaderOf<LinkType>(),        ReaderOf<ProcessNode>(),  ReaderOf<MemoryInput>(),    ReaderOf<Package>(),
      ReaderOf<DeviceBill>(),      ReaderOf<SystemInputs>(), ReaderOf<LinkInterface>(),  ReaderOf<KernelFamily>(),
      ReaderOf<FabricConstants>(), ReaderOf<Rental>(),       ReaderOf<Speculative>(),    ReaderOf<RequestLengths>()};
  return readers;
}

TEST(Presets, EveryEntryIsJsonAndItsIdIsItsOwn) {
  std::set<std::string> seen;
  ASSERT_FALSE(PresetTexts().empty());
  for (const PresetText& preset : PresetTexts()) {
    const std::string name = std::string(preset.kind) + " " + std::string(preset.id);
    EXPECT_TRUE(ParseJson(preset.text)) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(preset.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_"), std::string_view::npos) << name;
  }
}

TEST(Presets, TheNearestAreOfTheSameKind) {
  EXPECT_EQ(NearestPresets("engine", "vlm").front(), "vllm");
  EXPECT_EQ(NearestPresets("device", "h100-sxm-80gb").front(), "h100-sxm5-80gb");
  EXPECT_EQ(NearestPresets("engine", "tensorrt-llm").front(), "trtllm");
  EXPECT_EQ(NearestPresets("device", "Ryzen AI Max 395").front(), "strix-halo");
  EXPECT_TRUE(NearestPresets("engine", "h100-sxm5-80gb").empty());
  // A small kind is listed completely.
  EXPECT_EQ(NearestPresets("tuning", "fast"), (std::vector<std::string>{"stock", "tuned"}));
}

// A member called kind or id in an entry's file would replace the entry's own, and the page's list of that kind would
// be empty.
TEST(Presets, TheCatalogueSaysTheKindAndIdOfEveryEntry) {
  std::multiset<std::string> files, listed;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "cluster") files.insert(std::string(preset.kind) + " " + std::string(preset.id));
  }
  for (const Json& entry : PresetCatalogue("")) {
    if (entry["kind"] != "cluster")
      listed.insert(entry["kind"].get<std::string>() + " " + entry["id"].get<std::string>());
  }
  EXPECT_EQ(listed, files);
}

TEST(Presets, EveryEntryReadsThroughItsFieldTable) {
  for (const PresetText& preset : PresetTexts()) {
    const auto reader = Readers().find(preset.kind);
    if (reader == Readers().end()) continue;
    Issues issues;
    reader->second(preset.id, issues);
    for (const Issue& issue : issues)
      ADD_FAILURE() << preset.kind << " " << preset.id << ": " << issue.path << " " << issue.message;
  }
}

TEST(Presets, EveryEntryOfTheHardwareAndTheModelsHasANameAndSources) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device" && preset.kind != "model" && preset.kind != "cluster" && preset.kind != "kernel" &&
        preset.kind != "fabric")
      continue;
    const Json& json = *FindPreset(preset.kind, preset.id);
    EXPECT_TRUE(json.contains("name") && !json["name"].get<std::string>().empty()) << preset.id;
    ASSERT_TRUE(json.contains("sources") && json["sources"].is_object() && !json["sources"].empty())
        << preset.kind << " " << preset.id << ": \"sources\" names for its numbers where they were read";
    for (const auto& [group, source] : json["sources"].items()) {
      EXPECT_GT(source.get<std::string>().size(), 4u) << preset.id << " " << group;
    }
  }
}

TEST(Presets, PermanentDeviceIdsAreThere) {
  for (const char* id : {"v100-sxm2-16gb",
                         "v100-sxm2-32gb",
                         "a100-sxm4-40gb",
                         "a100-sxm4-80gb",
                         "a100-pcie-40gb",
                         "a100-pcie-80gb",
                         "a800-sxm4-80gb",
                         "h100-sxm5-80gb",
                         "h100-pcie-80gb",
                         "h100-nvl-94gb",
                         "h800-sxm5-80gb",
                         "h20-sxm",
                         "h200-sxm",
                         "b200-sxm",
                         "gb200",
                         "b300-sxm",
                         "gb300",
                         "t4",
                         "l4",
                         "a10g",
                         "l40s",
                         "a40",
                         "a6000",
                         "rtx-6000-ada",
                         "rtx-pro-6000",
                         "rtx-3090",
                         "rtx-4090",
                         "rtx-5090",
                         "mi210",
                         "mi250x",
                         "mi300x",
                         "mi325x",
                         "mi355x",
                         "tpu-v4",
                         "tpu-v5e",
                         "tpu-v5p",
                         "tpu-v6e",
                         "tpu-v7",
                         "gaudi2",
                         "gaudi3",
                         "trainium1",
                         "inferentia2",
                         "trainium2",
                         "m1-max",
                         "m2-ultra",
                         "m3-max"}) {
    EXPECT_NE(FindPreset("device", id), nullptr) << id;
  }
}

TEST(Presets, EfficienciesHaveTheirMeasurementAsSource) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device") continue;
    const Json& json = *FindPreset("device", preset.id);
    bool has_source = false;
    if (json.contains("sources")) {
      for (const auto& [group, source] : json["sources"].items())
        has_source = has_source || group.starts_with("efficiency");
    }
    EXPECT_EQ(json.contains("efficiency"), has_source)
        << preset.id << ": a source named \"efficiency\" goes with the member, and without it none";
  }
}

// A member that a device leaves out has a default near an H100's (core/hardware/device.h), so each device states its
// own, with a source.
TEST(Presets, DevicesStateWhatTheyAre) {
  const char* const stated[] = {"name",
                                "vendor",
                                "year",
                                "architecture",
                                "units",
                                "clock",
                                "tdp",
                                "idle",
                                "memory.technology",
                                "memory.capacity",
                                "memory.bandwidth",
                                "die.area",
                                "die.node",
                                "die.count"};
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device") continue;
    const Json& json = *FindPreset("device", preset.id);
    for (const char* path : stated) EXPECT_NE(MemberAt(json, path), nullptr) << preset.id << ": " << path;
    std::string with_source;
    for (const auto& [members, source] : json["sources"].items()) with_source += members + ", ";
    if (with_source == "all, ") continue;
    for (const char* member : {"units", "tdp", "die", "memory"})
      EXPECT_NE(with_source.find(member), std::string::npos) << preset.id << ": no source of " << member;
  }
}

TEST(Presets, DeviceValuesAreConsistent) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device") continue;
    const Device device = FromPreset<Device>(preset.id);
    const PeakRates& peak = device.peak;
    EXPECT_TRUE(peak.fp16 || peak.bf16) << preset.id;
    EXPECT_LE(peak.fp32.value_or(FlopsPerSecond()), peak.fp16.value_or(1e9 * kTFlops)) << preset.id;
    EXPECT_LE(peak.bf16.value_or(FlopsPerSecond()), peak.fp8.value_or(1e9 * kTFlops)) << preset.id;
    EXPECT_LE(peak.fp8.value_or(FlopsPerSecond()), peak.fp4.value_or(1e9 * kTFlops)) << preset.id;
    EXPECT_LT(device.idle, device.tdp) << preset.id;
    // A cache far slower than the memory behind it would make a larger cache the worse one.
    if (L2Capacity(device) > Bytes()) {
      EXPECT_GT(L2Rate(device) / device.memory.bandwidth, 0.4) << preset.id;
    }
    if (device.vendor == "Apple") {
      EXPECT_FALSE(device.caches.empty()) << preset.id << ": every Apple chip has a system cache";
    }
    if (device.memory.usable) {
      // Usable memory is at most the nominal number in GiB, and close to it except on Apple's shared memory.
      const double share = *device.memory.usable / (In(device.memory.capacity, kGB) * kGiB);
      EXPECT_LE(share, 1.01) << preset.id;
      EXPECT_GE(share, 0.74) << preset.id;
    }
    const double intensity = In((peak.bf16 ? *peak.bf16 : *peak.fp16), kFlops) / In(device.memory.bandwidth, kBps);
    EXPECT_GT(intensity, 20) << preset.id;
    EXPECT_LT(intensity, 1000) << preset.id;  // Jetson Thor: 949, with a notebook's memory
  }
}

// A single device has the networks of the first cluster made of it, or the slots of a PCIe server.
TEST(Presets, OneDeviceHasTheNetworksOfItsCluster) {
  const auto networks = [](std::string_view id) { return (*FindPreset("cluster", id))["networks"]; };
  EXPECT_EQ(networks("single-tpu-v4"), networks("tpu-v4-pod"));
  EXPECT_EQ(networks("single-t4").size(), 1U);
}

// Boxes are joined by their own ports, a phone by nothing.
TEST(Presets, OneBoxHasItsOwnPorts) {
  const auto networks = [](std::string_view id) { return (*FindPreset("cluster", id))["networks"]; };
  EXPECT_EQ(networks("single-dgx-spark")[0]["bandwidth"], "25 GB/s") << "200 Gb/s";
  EXPECT_EQ(networks("single-strix-halo")[0]["bandwidth"], "0.625 GB/s") << "5 Gb/s";
  EXPECT_EQ(networks("single-m3-ultra")[0]["bandwidth"], "30 GB/s") << "three cables of 80 Gb/s";
  EXPECT_TRUE(networks("single-snapdragon-8-elite-gen-5").empty());
}

// Each entry of `usual_for` names a cluster of a system or a device of a bill, and no two name the same one.
TEST(Presets, SystemsAndBillsAreUsualForEntriesThatExist) {
  std::set<std::string> seen;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "system" && preset.kind != "bill") continue;
    const std::string_view named = preset.kind == "system" ? "cluster" : "device";
    for (const Json& entry : FindPreset(preset.kind, preset.id)->value("usual_for", Json::array())) {
      const std::string id = entry.get<std::string>();
      EXPECT_NE(FindPreset(named, id), nullptr) << preset.id << " " << id;
      EXPECT_EQ(FindPreset(preset.kind, id), nullptr) << preset.id << " " << id;
      EXPECT_TRUE(seen.insert(id).second) << preset.id << " " << id;
    }
  }
}

// "published" states the count, and "within" its rounding.
TEST(Presets, ModelsHaveTheirPublishedParameters) {
  int models = 0;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "model") continue;
    const Json& json = *FindPreset("model", preset.id);
    ASSERT_TRUE(json.contains("published")) << preset.id;
    const Json& published = json["published"];
    EXPECT_GT(published["source"].get<std::string>().size(), 10u) << preset.id;
    Issues issues;
    Model model = FromPreset<Model>(preset.id, issues);
    ValidateAndFillDefaults(model, "model", issues);
    EXPECT_TRUE(issues.empty()) << preset.id;
    const double count = CountParameters(model).total;
    EXPECT_NEAR(count, published["parameters"].get<double>(),
                published.contains("within") ? published["within"].get<double>() : 0)
        << preset.id;
    ++models;
  }
  EXPECT_GE(models, 100);
}

// The count of a diffusion transformer holds its blocks, modulation and the projection of the text. It leaves out what
// embeds time, guidance and patches and what refines the text.
TEST(Presets, DiffusionModelsHaveNearlyTheirPublishedParameters) {
  int models = 0;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "diffusion_model") continue;
    const Json& published = (*FindPreset("diffusion_model", preset.id))["published"];
    EXPECT_GT(published["source"].get<std::string>().size(), 10u) << preset.id;
    const Json report = testing::Ask(Json{{"diffusion", {{"model", preset.id}}}});
    const double count = NumberAt(report, "diffusion.parameters").value_or(0);
    EXPECT_NEAR(count / published["parameters"].get<double>(), 1, 0.05) << preset.id;
    ++models;
  }
  EXPECT_GE(models, 5);
}

// The die of the H100 SXM under the limits of cards, by hand: 1.225 * sqrt(700 / 400) - 1 and 1.225 * sqrt(2) - 1.
TEST(Presets, ACardOfAMeasuredDieLosesOfItsClockWhatItsLimitSays) {
  for (const auto& [id, lost] :
       {std::pair{"h100-sxm5-80gb", 0.225}, std::pair{"h100-nvl-94gb", 0.6205}, std::pair{"h100-pcie-80gb", 0.7324}}) {
    Device device = FromPreset<Device>(id);
    CompleteEfficiency(device);
    EXPECT_NEAR(SustainedClockDerating(device, Precision::kBf16).base(), lost, 1e-3) << id;
  }
}

}  // namespace
}  // namespace slipstick
