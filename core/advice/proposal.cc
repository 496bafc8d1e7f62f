#include "core/advice/proposal.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/advice/successors.h"
#include "core/base/listed.h"
#include "core/base/units.h"
#include "core/catalogue/presets.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

// When to try a change.
enum class When {
  kAlways,
  kFeasible,    // only where the scenario fits
  kInfeasible,  // only where it does not
  kLastResort,  // as kInfeasible, and no earlier row of its kind repaired the scenario
  kOnlyWay      // as kInfeasible, and no earlier row repaired it without a purchase
};

struct ChangeRow {
  // Kind, and after a dot which one of that kind. Numbers after it make one proposal each, with the number for every #.
  std::string_view id;
  std::string_view part;  // part that it changes; "": training or serving
  // Assignments separated by spaces: "PATH=VALUE", "PATH*=FACTOR" for a count or a number, or "PATH<=MOST".
  std::string_view set;
  Needs needs;
  std::string_view title;  // {old} and {new}: the value of the first assignment
  std::string_view effort;
  When when = When::kAlways;
  std::string_view only_if = "";  // "PATH": of the scenario, not null; "PATH=VALUE"; "PATH!=TEXT"
  MappingSearch search = MappingSearch::kNone;
  std::string_view search_limits = "";  // separated by spaces
};

constexpr std::string_view kMoreDevices = "More devices, hosts, network and power.";
constexpr std::string_view kSchedule = "The framework must offer this schedule.";
constexpr std::string_view kBatch =
    "Retune the learning rate; beyond the critical batch size, more tokens are needed for the same loss.";
constexpr std::string_view kTrainFormat = "Validate convergence on a short run; sensitive layers stay in 16 bits.";
constexpr std::string_view kQuantize = "Quantize the checkpoint and evaluate it on your tasks.";
constexpr std::string_view kAdapters =
    "Adapts a pre-trained model instead of training one: for some ten thousand examples of your own.";
constexpr std::string_view kConfiguration = "A setting of the launch configuration.";
constexpr std::string_view kDeeperBatch = "More users share a replica; each waits longer per token.";
constexpr std::string_view kPerReplica = "serving.concurrency=null";  // a total number of requests overrides the batch

constexpr ChangeRow kRows[] = {
    {"mapping", "training", "", Needs::kSettings, "Best mapping", "Restart from a checkpoint with the new layout.",
     When::kAlways, "", MappingSearch::kAlways},
    {"devices.x2", "training", "cluster.devices*=2 training.devices*=2", Needs::kPurchase,
     "{new} devices in place of {old}", kMoreDevices, When::kAlways, "", MappingSearch::kIfNeeded},
    {"devices.half", "training", "cluster.devices*=0.5 training.devices*=0.5", Needs::kSettings,
     "{new} devices in place of {old}", "Give devices back or to other work.", When::kFeasible, "",
     MappingSearch::kIfNeeded},
    {"devices.x# 4 8 16 32 64", "training", "cluster.devices*=# training.devices*=#", Needs::kPurchase,
     "{new} devices in place of {old}", kMoreDevices, When::kLastResort, "", MappingSearch::kIfNeeded},
    {"precision.fp8", "training", "training.precision=fp8", Needs::kAccuracy, "fp8 matrix products in place of {old}",
     kTrainFormat, When::kAlways, "cluster.device.peak.fp8", MappingSearch::kIfNeeded},
    {"precision.nvfp4", "training", "training.precision=nvfp4", Needs::kAccuracy,
     "nvfp4 matrix products in place of {old}", kTrainFormat, When::kAlways, "cluster.device.peak.fp4",
     MappingSearch::kIfNeeded},
    {"global_batch.x# 2 4", "training", "training.global_batch*=#", Needs::kAccuracy,
     "Global batch of {new} sequences in place of {old}", kBatch, When::kAlways, "", MappingSearch::kIfNeeded},
    {"schedule.zb-h1", "training", "training.mapping.schedule=zb-h1 training.mapping.virtual_stages=1",
     Needs::kSoftware, "Zero-bubble pipeline schedule (ZB-H1)", kSchedule},
    {"schedule.zb-v", "training", "training.mapping.schedule=zb-v training.mapping.virtual_stages=2", Needs::kSoftware,
     "Zero-bubble pipeline schedule (ZB-V)", kSchedule},
    {"schedule.dualpipe", "training", "training.mapping.schedule=dualpipe training.mapping.virtual_stages=1",
     Needs::kSoftware, "DualPipe pipeline schedule", kSchedule},
    {"recompute.none", "training", "training.recompute=none", Needs::kSettings, "No activation recomputation",
     kConfiguration},
    {"recompute.selective", "training", "training.recompute=selective", Needs::kSettings,
     "Selective activation recomputation", kConfiguration},
    {"recompute.full", "training", "training.recompute=full", Needs::kSettings, "Full activation recomputation",
     "A setting; every layer's forward pass is computed twice."},
    {"zero.0", "training", "training.mapping.zero=0", Needs::kSettings, "ZeRO off in place of stage {old}",
     kConfiguration},
    {"zero.# 1 2 3", "training", "training.mapping.zero=#", Needs::kSettings, "ZeRO stage {new} in place of {old}",
     kConfiguration},
    {"sequence_parallel.on", "training", "training.mapping.sequence_parallel=true", Needs::kSettings,
     "Sequence parallelism", kConfiguration},
    {"attention.flash", "training", "training.flash_attention=true", Needs::kSettings, "Flash attention",
     kConfiguration},
    {"overlap.tp", "training", "training.mapping.overlap.tp=true", Needs::kSettings,
     "Overlap of tensor-parallel communication", kConfiguration},
    {"overlap.dp", "training", "training.mapping.overlap.dp=true", Needs::kSettings, "Overlap of gradient reduction",
     kConfiguration},
    {"overlap.pp", "training", "training.mapping.overlap.pp=true", Needs::kSettings, "Overlap of pipeline P2P",
     kConfiguration},
    {"overlap.ep", "training", "training.mapping.overlap.ep=true", Needs::kSettings, "Overlap of expert dispatch",
     kConfiguration},
    {"offload.optimizer", "training", "training.offload.optimizer=1", Needs::kSettings,
     "Optimizer state in host memory", "A setting; the host needs the memory.", When::kInfeasible},
    {"offload.activations", "training", "training.offload.activations=1", Needs::kSettings,
     "Activations in host memory", "A setting; the host needs the memory.", When::kInfeasible},
    {"frozen.nf4", "training", "training.frozen_precision=nf4", Needs::kAccuracy, "QLoRA: frozen weights in nf4",
     kQuantize, When::kAlways, "training.trainable=lora", MappingSearch::kIfNeeded},
    {"optimizer.adam8bit", "training", "training.optimizer=adam8bit", Needs::kAccuracy, "8-bit Adam in place of {old}",
     "Validate convergence: moments are kept in 8 bits.", When::kInfeasible},
    {"loss_chunks.8", "training", "training.loss_chunks=8", Needs::kSettings,
     "LM head and loss in {new} chunks of tokens", "A setting of torchtune and torchtitan.", When::kInfeasible},
    {"trainable.lora", "training", "training.trainable=lora training.tokens<=100000000", Needs::kOtherWork,
     "LoRA: a fine-tune on at most 100 M tokens, of adapters in place of all weights", kAdapters, When::kOnlyWay, "",
     MappingSearch::kIfNeeded},
    {"trainable.qlora", "training", "training.trainable=lora training.frozen_precision=nf4 training.tokens<=100000000",
     Needs::kOtherWork, "QLoRA: a fine-tune on at most 100 M tokens, of adapters over frozen nf4 weights", kAdapters,
     When::kOnlyWay, "", MappingSearch::kIfNeeded},

    {"mapping", "serving", "", Needs::kSettings, "Best mapping", "Restart the engine with the new layout.",
     When::kAlways, "", MappingSearch::kAlways, "prefill_devices<=0"},
    {"mapping.pools", "serving", "", Needs::kSettings, "Best mapping of both pools",
     "Restart the engines with the new layout.", When::kAlways, "serving.disaggregated", MappingSearch::kAlways,
     "prefill_devices>=1"},
    {"devices.x2", "serving", "serving.devices*=2", Needs::kPurchase, "{new} serving devices in place of {old}",
     kMoreDevices, When::kAlways, "", MappingSearch::kIfNeeded},
    {"devices.half", "serving", "serving.devices*=0.5", Needs::kSettings, "{new} serving devices in place of {old}",
     "Give devices back or to other work.", When::kFeasible, "", MappingSearch::kIfNeeded},
    {"devices.x# 4 8", "serving", "serving.devices*=#", Needs::kPurchase, "{new} serving devices in place of {old}",
     kMoreDevices, When::kLastResort, "", MappingSearch::kIfNeeded},
    {"devices_int4.x# 2 4", "serving",
     "serving.devices*=# serving.precision.weights=int4 serving.precision.activations=bf16", Needs::kPurchase,
     "{new} serving devices in place of {old}, with int4 weights", kQuantize, When::kInfeasible,
     "serving.precision.weights!=int4", MappingSearch::kIfNeeded},
    {"weights.fp8", "serving", "serving.precision.weights=fp8 serving.precision.activations=fp8", Needs::kAccuracy,
     "fp8 weights and activations in place of {old}", kQuantize, When::kAlways, "cluster.device.peak.fp8"},
    {"weights.nvfp4", "serving", "serving.precision.weights=nvfp4 serving.precision.activations=nvfp4",
     Needs::kAccuracy, "nvfp4 weights and activations in place of {old}", kQuantize, When::kAlways,
     "cluster.device.peak.fp4"},
    {"weights.int4", "serving", "serving.precision.weights=int4 serving.precision.activations=bf16", Needs::kAccuracy,
     "int4 weights in place of {old}", kQuantize},
    {"kv_cache.fp8", "serving", "serving.precision.kv_cache=fp8", Needs::kAccuracy, "fp8 KV cache in place of {old}",
     "A setting; evaluate long contexts, where errors add up."},
    {"weights.int4_kv_fp8", "serving",
     "serving.precision.weights=int4 serving.precision.activations=bf16 serving.precision.kv_cache=fp8",
     Needs::kAccuracy, "int4 weights and an fp8 KV cache", kQuantize, When::kOnlyWay,
     "serving.precision.weights!=int4"},
    {"weights.int4_few", "serving",
     "serving.precision.weights=int4 serving.precision.activations=bf16 serving.batch=max", Needs::kAccuracy,
     "int4 weights, for as many concurrent requests as fit", kQuantize, When::kOnlyWay, "", MappingSearch::kIfNeeded},
    {"weights.q4_k_m", "serving",
     "serving.precision.weights=q4_k_m serving.precision.activations=bf16 serving.engine=llamacpp-2025 "
     "serving.batch=max",
     Needs::kAccuracy, "4-bit weights (Q4_K_M) in llama.cpp, for as many concurrent requests as fit",
     "Another engine with its own file of the model (GGUF); evaluate it on your tasks.", When::kOnlyWay, "",
     MappingSearch::kIfNeeded},
    {"batch.x# 2 4", "serving", "serving.batch*=#", Needs::kSettings,
     "{new} concurrent requests per replica in place of {old}", kDeeperBatch, When::kAlways, kPerReplica},
    {"batch.half", "serving", "serving.batch*=0.5", Needs::kSettings,
     "{new} concurrent requests per replica in place of {old}",
     "A setting; further requests queue or need more replicas.", When::kAlways, kPerReplica},
    {"batch.max", "serving", "serving.batch=max", Needs::kSettings, "As many concurrent requests as fit",
     "A setting; further requests queue or need more replicas.", When::kLastResort},
    {"concurrency.x# 2 4", "serving", "serving.concurrency*=#", Needs::kSettings,
     "{new} requests at once in place of {old}", kDeeperBatch},
    {"concurrency.half", "serving", "serving.concurrency*=0.5", Needs::kSettings,
     "{new} requests at once in place of {old}", "A setting; further requests queue or need more replicas."},
    {"cuda_graphs.on", "serving", "serving.cuda_graphs=true", Needs::kSettings, "CUDA graphs for decode steps",
     "A setting; graphs take memory and start-up time."},
    {"prefill_chunk.# 512 1024 2048 8192", "serving", "serving.prefill_chunk=#", Needs::kSettings,
     "Chunked prefill of {new} tokens", kConfiguration},
    {"prefill_chunk.off", "serving", "serving.prefill_chunk=null", Needs::kSettings,
     "Prefill steps as large as the engine's own", kConfiguration},
    {"prefix_cache.half", "serving", "serving.prefix_hit=0.5", Needs::kSoftware,
     "Prefix cache, if it finds half of the prompt tokens",
     "Holds only if prompts share system text or history: measure the hit rate first."},
    {"speculation.draft", "serving", R"(serving.speculative={"draft_tokens":3,"acceptance":0.7,"draft_cost":0.1})",
     Needs::kSoftware, "Speculative decoding, 3 draft tokens",
     "Needs a draft model that is right for 70 % of its tokens: measure on your traffic."},
    {"kv_offload.host", "serving", "serving.kv_offload={}", Needs::kSettings,
     "KV cache beyond the device in host memory", "A setting; the host needs the memory.", When::kInfeasible},
    {"overlap.ep", "serving", "serving.mapping.overlap.ep=true", Needs::kSettings, "Overlap of expert dispatch",
     kConfiguration},
    {"disaggregation", "serving", "", Needs::kSoftware, "Prefill and decode on separate devices",
     "The engine must hand the KV cache from one pool to the other; two pools to scale.", When::kAlways,
     "serving.disaggregated=null", MappingSearch::kAlways, "prefill_devices>=1"},
    {"electricity.half", "", "cost.electricity*=0.5", Needs::kContract, "Electricity at half the price",
     "Another region or supply contract."},
};

// 1024 -> "1,024"; a text is unchanged.
std::string Shown(const Json& value) {
  if (value.is_string()) return TextOf(value);
  return value.is_number_integer() ? GroupedText(value.get<double>()) : JsonText(value);
}

void Replace(std::string& text, std::string_view word, const std::string& value) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.replace(at, word.size(), value);
}

std::string Filled(std::string_view text, std::string_view number) {
  std::string filled;
  for (const char c : text) filled += c == '#' ? number : std::string_view(&c, 1);
  return filled;
}

// The scaled value; nothing for a count that would not be whole.
std::optional<Json> Scaled(const Json& old, double factor) {
  if (!old.is_number()) return std::nullopt;
  const double scaled = factor * old.get<double>();
  if (!old.is_number_integer()) return Json(scaled);
  if (scaled < 1 || scaled != std::floor(scaled)) return std::nullopt;
  return Json(static_cast<Count>(scaled));
}

// Turns a row of the table into a proposal; empty if the row changes nothing in this scenario.
std::optional<Proposal> ProposalOf(const ChangeRow& row, std::string_view number, const Json& request,
                                   const Json& scenario) {
  Proposal proposal{Filled(row.id.substr(0, row.id.find(' ')), number),
                    std::string(row.title),
                    std::string(row.effort),
                    row.needs,
                    Json::object(),
                    row.search,
                    ListedIn(row.search_limits, ' '),
                    row.when == When::kLastResort,
                    row.when == When::kOnlyWay};
  for (const std::string& word : ListedIn(Filled(row.set, number), ' ')) {
    const std::size_t scale = word.find("*="), cap = word.find("<=");
    const bool scales = scale != std::string::npos, caps = cap != std::string::npos;
    Assignment assignment = scales ? Assignment{word.substr(0, scale), Json()}
                            : caps ? *ParseAssignment(word.substr(0, cap) + word.substr(cap + 1))
                                   : *ParseAssignment(word);
    const Json* found = MemberAt(scenario, assignment.path);
    const Json old = found != nullptr ? *found : Json(nullptr);
    if (caps && old.is_number() && old.get<double>() <= ParseMeasure(word.substr(cap + 2))->value) continue;
    if (scales) {
      // Leaves out a count that follows from another one, unless the request states it.
      if (!proposal.overrides.empty() && MemberAt(request, assignment.path) == nullptr) continue;
      std::optional<Json> scaled = Scaled(old, ParseMeasure(word.substr(scale + 2))->value);
      if (!scaled) return std::nullopt;
      assignment.value = std::move(*scaled);
    }
    if (proposal.overrides.empty()) {
      if (old == assignment.value) return std::nullopt;
      Replace(proposal.title, "{old}", Shown(old));
      Replace(proposal.title, "{new}", Shown(assignment.value));
    }
    proposal.overrides[assignment.path] = std::move(assignment.value);
  }
  // If serving needs more devices than the cluster has, the cluster grows, too.
  const auto serving = proposal.overrides.find("serving.devices");
  if (serving != proposal.overrides.end() && *serving > *MemberAt(scenario, "cluster.devices")) {
    proposal.overrides["cluster.devices"] = Json(*serving);
  }
  return proposal;
}

// The path at which to set another preset of a part: the part's preset, or the whole part if the request states more
// than the preset and the member `kept`.
std::string PathOfPreset(const Json& request, std::string_view part, std::string_view kept = "") {
  const Json* written = FindMember(request, part);
  bool is_plain = written != nullptr && written->is_object();
  if (is_plain) {
    for (const auto& [key, value] : written->items()) is_plain = is_plain && (key == "preset" || key == kept);
  }
  return std::string(part) + (is_plain ? ".preset" : "");
}

std::vector<Proposal> NewerDevices(const Json& request, const Json& scenario) {
  std::vector<Proposal> proposals;
  const std::string path = PathOfPreset(request, "cluster", "devices");
  const Json* name = MemberAt(scenario, "cluster.device.name");
  const std::string rental = TextAt(scenario, "cost.rental.preset"), rented = TextAt(scenario, "cost.rental.device");
  for (const Successor& one : SuccessorsOf(scenario)) {
    const std::optional<std::string_view> rent = RentalOnCluster(rental, rented, one.cluster);
    if (!rent) continue;  // its price is not known
    Proposal proposal;
    if (!rent->empty()) proposal.overrides["cost.rental"] = *rent;
    proposal.id = "device." + one.cluster;
    proposal.title = one.device + " in place of " + TextOf(*name);
    proposal.effort = "New hardware; retune kernels.";
    proposal.needs = Needs::kPurchase;
    proposal.overrides[path] = one.cluster;
    // As many devices as now: a written cluster would serve with all of its own.
    for (const char* devices : {"cluster.devices", "serving.devices"}) {
      if (IsSet(scenario, devices)) proposal.overrides[devices] = *MemberAt(scenario, devices);
    }
    proposal.search = MappingSearch::kIfNeeded;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

// Proposes each smaller model; in serving, also with as many concurrent requests as fit.
std::vector<Proposal> SmallerModels(const AdviceQuestion& question, const Json& request, const Json& scenario) {
  std::vector<Proposal> proposals;
  const std::string path = PathOfPreset(request, "model");
  const Json* name = MemberAt(scenario, "model.name");
  for (const SmallerModel& one : SmallerModelsOf(scenario)) {
    Proposal proposal;
    proposal.id = "model." + one.id;
    proposal.title = one.name + " in place of " + TextOf(*name);
    proposal.effort = "Another model, which knows less: evaluate it on your tasks.";
    proposal.needs = Needs::kOtherWork;
    proposal.overrides[path] = one.id;
    proposal.search = MappingSearch::kIfNeeded;
    proposal.only_first_of_kind = true;
    proposals.push_back(proposal);
    if (question.part != "serving") continue;
    proposal.title += ", for as many concurrent requests as fit";
    proposal.overrides["serving.batch"] = "max";
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

bool Holds(const Json& scenario, std::string_view condition) {
  if (condition.empty()) return true;
  const std::size_t equals = condition.find('='), differs = condition.find("!=");
  const Json* value = MemberAt(scenario, condition.substr(0, std::min(equals, differs)));
  if (value == nullptr) return false;
  if (differs != std::string_view::npos) return TextOf(*value) != condition.substr(differs + 2);
  return equals == std::string_view::npos ? !value->is_null() : *value == ParseAssignment(condition)->value;
}

}  // namespace

std::vector<Proposal> ProposalsFor(const AdviceQuestion& question, const Json& request, const JudgedScenario& now) {
  std::vector<Proposal> proposals = NewerDevices(request, now.scenario);
  for (const ChangeRow& row : kRows) {
    if (!row.part.empty() && row.part != question.part) continue;
    if (row.when != When::kAlways && (row.when == When::kFeasible) != now.IsAnswer()) continue;
    if (!Holds(now.scenario, row.only_if)) continue;
    std::vector<std::string> numbers = ListedIn(row.id, ' ');
    if (numbers.size() > 1) numbers.erase(numbers.begin());  // the id itself
    for (const std::string& number : numbers) {
      if (std::optional<Proposal> proposal = ProposalOf(row, number, request, now.scenario))
        proposals.push_back(std::move(*proposal));
    }
  }
  if (!now.IsAnswer()) {
    for (Proposal& one : SmallerModels(question, request, now.scenario)) proposals.push_back(std::move(one));
  }
  return proposals;
}

bool AreCompatible(const Proposal& a, const Proposal& b) {
  if (a.Kind() == b.Kind()) return false;
  if (a.search == MappingSearch::kAlways && b.search == MappingSearch::kAlways) return false;
  for (const auto& [path, value] : a.overrides.items()) {
    if (b.overrides.contains(path)) return false;
  }
  return true;
}

Proposal PairOf(const Proposal& a, const Proposal& b) {
  Proposal pair = a;
  pair.id = a.id + "+" + b.id;
  pair.title = a.title + " + " + b.title;
  pair.effort = a.effort == b.effort ? a.effort : a.effort + " " + b.effort;
  pair.needs = std::max(a.needs, b.needs);
  pair.overrides.update(b.overrides);
  pair.search = std::max(a.search, b.search);
  pair.search_limits.insert(pair.search_limits.end(), b.search_limits.begin(), b.search_limits.end());
  pair.of = {a.id, b.id};
  return pair;
}

}  // namespace slipstick
