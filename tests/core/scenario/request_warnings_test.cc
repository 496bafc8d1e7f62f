// Requests for features that no device or model has give a warning, never a refusal.
#include "core/scenario/request_warnings.h"

#include <gtest/gtest.h>

#include "core/catalogue/presets.h"
#include "core/scenario/device_support.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

std::vector<std::string> WarningsOf(const std::vector<std::string>& assignments) {
  const Result<Json> request = ReadRequest("", assignments);
  EXPECT_TRUE(request);
  const Result<Scenario> scenario = ParseScenario(*request);
  EXPECT_TRUE(scenario) << (scenario.issues.empty()
                                ? ""
                                : scenario.issues.front().path + ": " + scenario.issues.front().message);
  return scenario ? scenario->warnings : std::vector<std::string>();
}

bool Mentions(const std::vector<std::string>& texts, const std::string& words) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

// The warnings for an engine on one device. Version 2 chooses a mapping that the engine supports.
std::vector<std::string> Served(const std::string& engine, const std::string& cluster) {
  return WarningsOf({"version=2", "model=llama-3.1-8b", "cluster=" + cluster, "cluster.devices=1", "training=null",
                     "serving.engine=" + engine});
}

TEST(RequestWarnings, NameAnEngineThatDoesNotRunOnTheDevices) {
  const std::vector<std::pair<std::string, std::string>> none{
      {"trtllm", "single-mi300x"},         {"trtllm", "single-m3-ultra"},      {"mlx", "single-mi300x"},
      {"neuron", "single-h100-sxm5-80gb"}, {"vllm", "single-m3-ultra"},        {"trtllm", "single-tpu-v6e"},
      {"llamacpp", "single-gaudi3"},       {"llamacpp-2025", "single-gaudi3"}, {"llamacpp-2025", "single-tpu-v6e"}};
  for (const auto& [engine, cluster] : none)
    EXPECT_TRUE(Mentions(Served(engine, cluster), "does not run on")) << engine << " " << cluster;
  const std::vector<std::pair<std::string, std::string>> real{
      {"trtllm", "single-h100-sxm5-80gb"}, {"vllm", "single-mi300x"},
      {"vllm", "single-tpu-v6e"},          {"sglang", "single-b200-sxm"},
      {"mlx", "single-m3-ultra"},          {"neuron", "single-trainium2"},
      {"gaudi", "single-gaudi3"},          {"llamacpp-2025", "single-m3-ultra"},
      {"ideal", "single-tpu-v6e"},         {"llamacpp-2025", "single-rtx-5090"},
      {"sglang", "single-tpu-v6e"},        {"sglang", "single-m3-ultra"},
      {"mlx", "single-h100-sxm5-80gb"}};
  for (const auto& [engine, cluster] : real)
    EXPECT_FALSE(Mentions(Served(engine, cluster), "does not run on")) << engine << " " << cluster;
  EXPECT_TRUE(Mentions(Served("vllm", "single-m3-ultra"), "serving.engine that do: mlx"));
}

// Rollouts run all samples at once, as many as fit; the engine's own limit is serving.engine.max_sequences.
TEST(RequestWarnings, NameNumbersOfRequestsThatRolloutsDoNotUse) {
  const auto asked = [](const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"version=3",         "model=llama-3.1-8b",        "cluster=dgx-h100",
                                         "cluster.devices=8", "training.global_batch=128", "post_training.prompts=16"};
    assignments.insert(assignments.end(), more.begin(), more.end());
    return WarningsOf(assignments);
  };
  const std::string text = "is left out, serving.engine.max_sequences limits them";
  EXPECT_FALSE(Mentions(asked({}), text));
  EXPECT_TRUE(Mentions(asked({"serving.batch=8"}), "serving.batch " + text));
  EXPECT_TRUE(Mentions(asked({"serving.concurrency=8"}), "serving.concurrency " + text));
  EXPECT_FALSE(Mentions(asked({"serving.engine.max_sequences=8"}), text));
}

TEST(RequestWarnings, NameAFrameworkThatDoesNotRunOnTheDevices) {
  const auto trained = [](const std::string& framework, const std::string& cluster) {
    return WarningsOf({"version=2", "model=llama-3.2-1b", "cluster=" + cluster, "cluster.devices=1", "serving=null",
                       "training.framework=" + framework});
  };
  EXPECT_TRUE(Mentions(trained("megatron", "single-m3-ultra"), "Megatron-Core does not run on M3 Ultra"));
  EXPECT_TRUE(Mentions(trained("megatron", "single-tpu-v5p"), "Megatron-Core does not run on TPU v5p"));
  EXPECT_FALSE(Mentions(trained("megatron", "single-mi300x"), "does not run on"));
  EXPECT_FALSE(Mentions(trained("xla", "single-tpu-v5p"), "does not run on"));
}

// A request's cluster and software, expanded as far as the rule reads them.
Json On(const std::string& family, Count version, const std::string& engine = "vllm") {
  return Json{{"version", version},
              {"cluster", {{"device", {{"architecture", family}}}}},
              {"serving", {{"engine", {{"preset", engine}}}}},
              {"training", {{"framework", {{"preset", "megatron"}}}}},
              {"written", Json::array({"cluster"})}};
}

TEST(FollowDevices, ChoosesUnwrittenSoftwareThatRunsOnTheDevices) {
  const auto followed = [](Json request) {
    FollowDevices(request, Written(request));
    return std::pair{request["serving"]["engine"]["preset"].get<std::string>(),
                     request["training"]["framework"]["preset"].get<std::string>()};
  };
  EXPECT_EQ(followed(On("apple", 3)), (std::pair<std::string, std::string>{"mlx", "fsdp-eager"}));
  EXPECT_EQ(followed(On("tpu", 3)), (std::pair<std::string, std::string>{"vllm", "xla"}));
  EXPECT_EQ(followed(On("neuron", 3)), (std::pair<std::string, std::string>{"vllm", "neuronx"}));
  EXPECT_EQ(followed(On("hopper", 3)), (std::pair<std::string, std::string>{"vllm", "megatron"}));
  EXPECT_EQ(followed(On("apple", 2)), (std::pair<std::string, std::string>{"vllm", "megatron"}));
  EXPECT_EQ(followed(On("apple", 3, "ideal")).first, "ideal") << "runs anywhere";
  Json written = On("apple", 3);
  written["written"].push_back("serving.engine");
  EXPECT_EQ(followed(written).first, "vllm");
}

// Llama 3.1 was trained with contexts up to 131,072 tokens.
TEST(RequestWarnings, NameThePromptBeyondTheModelsContext) {
  const auto asked = [](const std::string& prompt) {
    return WarningsOf({"version=2", "model=llama-3.1-8b", "cluster=dgx-h200", "training=null", "serving.batch=1",
                       "serving.output=72", "serving.prompt=" + prompt});
  };
  EXPECT_TRUE(Mentions(asked("1000000"), "1,000,072 tokens (prompt 1,000,000)"));
  EXPECT_TRUE(Mentions(asked("1000000"), "131,072"));
  EXPECT_TRUE(Mentions(asked("131001"), "131,073 tokens"));
  EXPECT_TRUE(asked("131000").empty());
}

TEST(RequestWarnings, NameALevelThatJoinsNothing) {
  const auto wired = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"version=2", "cluster=dgx-h100", "cluster.devices=1024", "serving=null"};
    all.insert(all.end(), more.begin(), more.end());
    return WarningsOf(all);
  };
  // A level between two halls: 1,024 nodes of 8 hold all 1,024 devices; 64 of them hold half.
  const std::string hall = "cluster.networks.2={\"name\": \"halls\", \"size\": 2, \"bandwidth\": \"0.5 GB/s\"}";
  EXPECT_TRUE(
      Mentions(wired({hall}), "cluster.networks.2 (halls) joins nothing: the levels below it hold 8,192 devices"));
  EXPECT_TRUE(Mentions(wired({hall, "cluster.networks.1.size=1024"}), "cluster.networks.2 (halls) joins nothing"));
  EXPECT_TRUE(wired({hall, "cluster.networks.1.size=64"}).empty());
  EXPECT_TRUE(wired({}).empty());
  EXPECT_TRUE(Mentions(wired({hall, "cluster.networks.1.size=1"}), "joins nothing: its size is 1"));
  // Levels of a preset give no warning.
  EXPECT_TRUE(WarningsOf({"cluster=dgx-h100", "cluster.devices=8", "serving=null", "training.mapping=auto"}).empty());
  EXPECT_TRUE(Mentions(WarningsOf({"cluster=dgx-h100", "cluster.devices=8", "serving=null", "training.mapping=auto",
                                   "cluster.networks.1.bandwidth=100 GB/s"}),
                       "cluster.networks.1"));
}

TEST(RequestWarnings, NameDevicesThatNoLevelJoins) {
  EXPECT_TRUE(Mentions(
      WarningsOf({"version=2", "cluster=dgx-h100", "cluster.devices=16", "cluster.networks.1.size=1", "serving=null"}),
      "The networks join 8 devices, the cluster has 16"));
}

// 1,024 devices are 128 nodes of eight.
TEST(RequestWarnings, NameSidesOfATorusThatAreTooShort) {
  const auto wired = [](const std::string& sides) {
    return WarningsOf({"version=2", "cluster=dgx-h100", "cluster.devices=1024", "serving=null",
                       "cluster.networks.1.topology=torus", "cluster.networks.1.dims=" + sides});
  };
  EXPECT_TRUE(
      Mentions(wired("[4, 4]"),
               "cluster.networks.1.dims: the sides hold 16 groups of the level below, and the level joins 128"));
  EXPECT_TRUE(wired("[16, 8]").empty());
  EXPECT_TRUE(wired("[32, 32]").empty());
}

TEST(RequestWarnings, NameAnOversubscriptionWithoutAFatTree) {
  const auto wired = [](const std::string& topology) {
    return WarningsOf({"version=2", "cluster=dgx-h100", "cluster.devices=1024", "serving=null",
                       "cluster.networks.1.oversubscription=4", "cluster.networks.1.topology=" + topology});
  };
  EXPECT_TRUE(Mentions(wired("rail"), "cluster.networks.1.oversubscription has no effect: its topology is rail"));
  EXPECT_TRUE(wired("fat_tree").empty());
}

// Ada cards are joined by PCIe in the catalogue, and Hopper by NVLink or PCIe. InfiniBand and Ethernet join any device.
TEST(RequestWarnings, NameLinksThatNoDeviceOfTheFamilyHas) {
  const auto joined = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"model=llama-3.1-8b", "training=null", "cluster.devices=8"};
    all.insert(all.end(), more.begin(), more.end());
    return Mentions(WarningsOf(all), "exchanges are hypothetical");
  };
  EXPECT_TRUE(joined({"cluster=dgx-h100", "cluster.device=rtx-4090"}));
  EXPECT_TRUE(Mentions(WarningsOf({"model=llama-3.1-8b", "training=null", "cluster=dgx-h100", "cluster.devices=8",
                                   "cluster.device=rtx-4090"}),
                       "No device of the family of GeForce RTX 4090 24 GB has NVLink 4 in the catalogue: exchanges are "
                       "hypothetical; cluster=pcie-server joins this family by PCIe 4.0 x16"));
  EXPECT_TRUE(joined({"cluster=pcie-server", "cluster.networks.0=nvlink-4"}));
  EXPECT_TRUE(joined({"cluster=hgx-mi300x", "cluster.networks.0=nvlink-4"}));
  EXPECT_FALSE(joined({"cluster=pcie-server", "cluster.device=rtx-4090"}));
  EXPECT_FALSE(joined({"cluster=pcie-server", "cluster.device=h100-pcie-80gb"}));
  EXPECT_TRUE(Mentions(WarningsOf({"model=llama-3.1-8b", "training=null", "cluster=dgx-h100", "cluster.devices=8",
                                   "cluster.device=b200-sxm"}),
                       "cluster=dgx-b200 joins it by NVLink 5"));
  EXPECT_FALSE(joined({"cluster=dgx-h100", "cluster.device=h200-sxm"}));  // by NVLink 4 as well
  EXPECT_FALSE(joined({"cluster=dgx-h100", "cluster.networks.0=ethernet-400"}));
  EXPECT_FALSE(joined({"cluster=dgx-h100", "cluster.device.design=h100-like"}));
  for (const Json& entry : PresetCatalogue("cluster")) {
    if (entry["networks"].empty()) continue;  // nothing joins phones
    EXPECT_FALSE(joined({"cluster=" + entry["id"].get<std::string>(), "cluster.devices=2"})) << entry["id"];
  }
}

// A draft model shares the vocabulary of its target, and how many drafts are accepted was measured there.
TEST(RequestWarnings, NameDraftsForAnotherModel) {
  const std::string drafts = "serving.speculative.preset=draft-llama-3.2-1b";
  const std::string words = "serving.speculative.preset is for llama-3.3-70b";
  EXPECT_TRUE(Mentions(WarningsOf({"training=null", "model=qwen3-8b", drafts}), words));
  EXPECT_FALSE(Mentions(WarningsOf({"training=null", "model=llama-3.3-70b", drafts}), words));
}

// A node of eight GPUs with a NIC of one port each reaches eight others by direct wires.
TEST(RequestWarnings, NameDirectWiresWithoutPorts) {
  const auto wired = [](int devices) {
    return WarningsOf({"version=2", "cluster=dgx-h100", "cluster.devices=" + std::to_string(devices), "serving=null",
                       "cluster.networks.1.topology=fully_connected"});
  };
  EXPECT_TRUE(wired(72).empty());
  EXPECT_TRUE(Mentions(wired(80), "cluster.networks.1: direct wires to 9 peers need as many ports"));
}

TEST(RequestWarnings, NameReductionBetweenNodes) {
  const auto wired = [](const std::string& library) {
    return WarningsOf({"version=2", "cluster=dgx-h100", "cluster.devices=1024", "serving=null",
                       "cluster.networks.1.in_network_reduction=true", "cluster.collectives.library=" + library});
  };
  EXPECT_TRUE(Mentions(wired("measured"), "cluster.networks.1.in_network_reduction has no effect"));
  EXPECT_TRUE(wired("analytic").empty());
}

}  // namespace
}  // namespace slipstick
