#include "core/serving/serving_memory.h"

#include "core/base/figure.h"
#include "core/engine_step/compressed_time.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/step_limits.h"
#include "core/operators/efficiency.h"
#include "core/serving/prompt_time.h"

namespace slipstick {
namespace {

constexpr double kLongest = 1e9;  // tokens of a context

// Host memory for the KV cache, per device: the load's capacity, at most what prefixes and experts leave. Experts are
// in host memory only on single-device replicas, so they are all this device's.
Bytes HostRoom(const Deployment& deployment) {
  const Bytes experts = deployment.load.host_experts ? HostWeights(deployment) : Bytes{},
              left = deployment.device.host.memory - experts - KeptPrefixesOf(deployment).host;
  return Figure("Host memory for the KV cache", min(deployment.load.kv_offload->capacity, max(Bytes{}, left)),
                "per device, beside experts and cached prefixes");
}

// Memory of this many prefixes per tier, distributed over the tiers as the cache hits are.
KeptPrefixes OverTiers(Ratio prefixes, Bytes prefix, const PrefixCache& tiers) {
  return {prefixes * prefix * (1 - tiers.host_share - tiers.ssd_share), prefixes * prefix * tiers.host_share,
          prefixes * prefix * tiers.ssd_share};
}

Bytes KvCacheOfPrefix(const Deployment& deployment) {
  return KvCacheOfSequence(deployment, ComputedTokens(deployment.load).cached);
}

}  // namespace

KeptPrefixes KeptPrefixesOf(const Deployment& deployment) {
  if (!deployment.load.prefix_cache) return {};
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  const KeptPrefixes kept = OverTiers(tiers.prefixes, KvCacheOfPrefix(deployment), tiers);
  return {Figure("Prefixes kept in device memory", kept.device, "beside those of running requests"),
          Figure("Prefixes kept in host memory", kept.host, "per device"),
          Figure("Prefixes kept on SSD", kept.ssd, "per device")};
}

KeptPrefixes IdlePrefixesOf(const Deployment& deployment) {
  constexpr std::string_view kOnDevice = "Prefixes of waiting sessions in device memory",
                             kEach = "for each running request";
  const Ratio sessions = deployment.load.idle_sessions.value_or(0);
  if (!(sessions > 0) || (!(deployment.load.prefix_hit > 0) && deployment.nodes == nullptr)) return {};
  const Bytes prefix = KvCacheOfPrefix(deployment);
  if (!deployment.load.prefix_cache) return {Figure(kOnDevice, sessions * prefix, kEach), {}, {}};
  const KeptPrefixes idle = OverTiers(sessions, prefix, *deployment.load.prefix_cache);
  return {Figure(kOnDevice, idle.device, kEach),
          Figure("Prefixes of waiting sessions in host memory", idle.host, kEach),
          Figure("Prefixes of waiting sessions on SSD", idle.ssd, kEach)};
}

Bytes KvCacheBudget::Room() const {
  return host > Bytes{} ? Figure("Memory for the KV cache", kv_cache + host, "of the device and of the host")
                        : kv_cache;
}

namespace {

// The engine's share of the memory that its rule refers to.
Ratio ShareOf(const Deployment& deployment, Bytes capacity) {
  const MemoryBudget& rule = deployment.engine.memory;
  if (rule.share) return *rule.share;
  return Figure("Share of the memory", max(0, 1 - HeadroomOf(deployment) / capacity), "all but the engine's headroom");
}

// KV-cache budget under the engine's rule.
Bytes KvCacheLeft(BudgetRule rule, Ratio share, const KvCacheBudget& of) {
  const Bytes taken_at_start = of.capacity - of.workspace;
  switch (rule) {
    case BudgetRule::kShareOfDevice:
      return Figure("KV-cache budget", max(Bytes{}, share * of.capacity - of.weights - of.activations - of.workspace),
                    "the engine's share of device memory, less weights, activations and workspace");
    case BudgetRule::kShareOfFree:
      return Figure("KV-cache budget", max(Bytes{}, share * (of.capacity - of.weights - of.activations - of.workspace)),
                    "the engine's share of the memory left free by weights, activations and workspace");
    case BudgetRule::kShareOfStart:
      return Figure("KV-cache budget",
                    max(Bytes{}, min(share * taken_at_start, taken_at_start - of.activations) - of.weights),
                    "the engine's share of the memory free at its start, less weights; activations fit in the rest");
  }
  return {};
}

// Usable memory as an input, whether the request or a rule sets it.
Bytes UsableOn(const Deployment& deployment) {
  const Bytes usable = UsableMemory(deployment.device);
  return deployment.nodes == nullptr ? usable : deployment.InputAt(deployment.nodes->device + ".memory.usable", usable);
}

}  // namespace

KvCacheBudget KvCacheBudgetOf(const Deployment& deployment) {
  KvCacheBudget budget;
  budget.capacity = UsableOn(deployment);
  budget.weights = WeightsOf(deployment);
  budget.activations = ActivationsOf(deployment);
  budget.workspace = WorkspaceOf(deployment);
  budget.kv_cache = KvCacheLeft(deployment.engine.memory.rule, ShareOf(deployment, budget.capacity), budget);
  if (HasStatePool(deployment)) {
    const Bytes left = budget.kv_cache;
    budget.kv_cache = Figure("KV-cache budget", left / (1 + *deployment.engine.memory.state_ratio),
                             "what the pool of recurrent states leaves");
    budget.states = Figure("Pool of recurrent states", left - budget.kv_cache, "on one device");
  }
  if (deployment.load.prefix_cache) {
    const Bytes running =
        Figure("KV-cache budget of running requests", max(Bytes{}, budget.kv_cache - KeptPrefixesOf(deployment).device),
               "less the prefixes that are kept beside theirs");
    budget.prefixes = budget.kv_cache - running;
    budget.kv_cache = running;
  }
  if (deployment.load.kv_offload && budget.kv_cache > Bytes{}) budget.host = HostRoom(deployment);
  return budget;
}

namespace {

Ratio HeldTokens(const Deployment& deployment, Ratio prompt, Ratio output) {
  const Ratio whole = OutputOfRunning(deployment, output);
  return Figure("Tokens that a running request holds",
                prompt + max(whole / 2, deployment.engine.memory.output_reserved * whole),
                "its prompt and half of its output in the mean, or what the engine reserves of it");
}

}  // namespace

Bytes KvCacheOfRequest(const Deployment& deployment, Ratio prompt, Ratio output) {
  return KvCacheOfSequence(deployment, HeldTokens(deployment, prompt, output));
}

namespace {

Bytes BudgetAtEnd(const Deployment& deployment, Ratio prompt, Ratio output) {
  return BudgetOfSequence(deployment, Figure("Tokens of a request at its end", prompt + output));
}

// KV cache of a request, plus the prefixes of the sessions that wait for it.
Bytes KeptForRequest(const Deployment& deployment, Bytes own) {
  if (!(deployment.load.idle_sessions.value_or(0) > 0)) return own;
  return Figure("KV cache kept per running request", own + IdlePrefixesOf(deployment).device,
                "its own, and the prefixes of the sessions that wait");
}

// States of a running sequence in their pool; speculative decoding keeps one per token that a step verifies.
Ratio StatesOfSequence(const Deployment& deployment) {
  const Ratio states(deployment.engine.memory.sequence_states);
  if (!deployment.load.speculative) return states;
  return Figure("Recurrent states of a sequence", states + Ratio(deployment.load.speculative->draft_tokens) + 1,
                "with one per token that a step verifies, to return to the last accepted one");
}

// Sequences that fit in `room`, of the budget; 0 if one does not fit when complete.
Ratio Fitting(const Deployment& deployment, const KvCacheBudget& budget, Bytes room, const HeldByRequest& held) {
  const Ratio limit = SequenceLimit(deployment, budget);
  return Figure("Maximum concurrent sequences of an attention group",
                min(WholeBelow(room / held.mean), limit, WholeBelow(budget.Room() / held.at_end) * limit),
                "whole sequences; at most the engine's limit; none if one does not fit to its end");
}

// Requests of sessions share their system prompt; the longest request is the last turn.
Ratio TurnsThatFit(const Deployment& deployment, const KvCacheBudget& budget, Ratio output) {
  const Sessions& sessions = *deployment.load.sessions;
  const Ratio longest_prompt =
      Figure("Prompt of the last turn", PromptOfTurn<Ratio>(sessions, output, Ratio(sessions.turns)));
  const SessionMemory memory = SessionMemoryOf(deployment, budget);
  return Fitting(deployment, budget, memory.room,
                 {max(memory.own, 1 * kB), BudgetAtEnd(deployment, longest_prompt, output)});
}

}  // namespace

Ratio SequenceLimit(const Deployment& deployment, const KvCacheBudget& budget) {
  const StepLimit sequences = SequencesOf(deployment.load, deployment.cluster.device);
  const Ratio limit = deployment.InputAt(sequences.path, Ratio(sequences.stated));
  if (!HasStatePool(deployment)) return limit;
  return Figure("Maximum concurrent sequences by their recurrent states",
                min(limit, WholeBelow(budget.states / (StatesOfSequence(deployment) * StateOnDevice(deployment)))),
                "whole sequences; at most the engine's limit");
}

SessionMemory SessionMemoryOf(const Deployment& deployment, const KvCacheBudget& budget) {
  const ServingLoad& load = deployment.load;
  const Bytes system = BudgetOfSequence(deployment, load.sessions->system_prompt);
  return {system,
          Figure("KV cache beside the shared system prompt", max(Bytes{}, budget.Room() - system),
                 "of running requests and idle contexts"),
          Figure("KV cache of a running request",
                 max(Bytes{}, BudgetOfSequence(deployment, HeldTokens(deployment, load.prompt, load.output)) - system),
                 "beside the shared system prompt, mean over the turns")};
}

Ratio BatchThatFits(const Deployment& deployment, const KvCacheBudget& budget, Ratio prompt, Ratio output) {
  if (deployment.load.sessions) return TurnsThatFit(deployment, budget, output);
  return SequencesThatFit(deployment, budget, HeldByRequestOf(deployment, prompt, output));
}

HeldByRequest HeldByRequestOf(const Deployment& deployment, Ratio prompt, Ratio output) {
  return {KeptForRequest(deployment, BudgetOfSequence(deployment, HeldTokens(deployment, prompt, output))),
          BudgetAtEnd(deployment, prompt, output)};
}

Tally DefaultSequences(const Deployment& deployment) {
  const StepLimits limits = DefaultStepLimits(deployment.engine.memory, deployment.cluster.device);
  if (!(limits.sequences > 0)) return 0;
  return TallyOf(Figure("Concurrent sequences by the engine's default",
                        deployment.InputAt(limits.SequencesPath(), Ratio(limits.sequences)), "without a flag for it"));
}

Ratio SequencesThatFit(const Deployment& deployment, const KvCacheBudget& budget, const HeldByRequest& held) {
  return Fitting(deployment, budget, budget.Room(), held);
}

namespace {

// Memory for the KV cache of a single sequence.
Bytes ContextRoom(const Deployment& deployment, const KvCacheBudget& budget) {
  const Bytes room = budget.Room();
  if (deployment.model.compressed) {
    const Bytes windows =
        deployment.layers.on_stage.attention * CompressedFixed(deployment, deployment.model.compressed->window);
    return Figure("KV cache of a single sequence", max(room - windows, Bytes{}), "beside its windows");
  }
  if (deployment.layers.recurrent <= 0 || HasStatePool(deployment)) return room;
  return Figure("KV cache of a single sequence", max(room - StateOnDevice(deployment), Bytes{}),
                "beside its recurrent state");
}

// Layers whose KV cache grows with a context longer than the window; window_tokens: tokens that the full windows of the
// other layers hold, summed over these layers.
struct GrowingLayers {
  Ratio layers, window_tokens = 0;
};
GrowingLayers GrowingOf(const Deployment& deployment, const StageCache& stage, Ratio layer_tokens) {
  const Ratio all = Figure("Layers with a KV cache", stage.layers - stage.window + stage.windows,
                           "as so many with the KV heads of those that attend to all tokens");
  const Ratio sliding_window(deployment.model.window.tokens);
  if (!(stage.window > 0 && layer_tokens > sliding_window * all)) return {all};
  constexpr std::string_view kTitle = "Layers whose KV cache grows with the context",
                             kNote = "those with a window by the engine's share, where that is more";
  const Ratio share = deployment.engine.memory.window_share, seeing_all = stage.layers - stage.window,
              window_tokens = Figure("Tokens of full windows", stage.windows * PagedTokens(deployment, sliding_window),
                                     "all layers");
  if (share * (layer_tokens - window_tokens) > seeing_all * sliding_window)
    return {Figure(kTitle, seeing_all + share * stage.windows, kNote)};
  return {Figure(kTitle, seeing_all, kNote), window_tokens};
}

}  // namespace

Ratio ContextThatFits(const Deployment& deployment, const KvCacheBudget& budget) {
  const StageCache stage = StageCacheOf(deployment);
  const Ratio layer_tokens = Figure("Tokens that fit", ContextRoom(deployment, budget) / (stage.layer * (1 * kToken)),
                                    "if one layer had all the room");
  const GrowingLayers growing = GrowingOf(deployment, stage, layer_tokens);
  if (growing.layers <= 0) return kLongest;  // if every layer has a window, any length fits
  const Ratio tokens = growing.window_tokens > 0
                           ? Figure("Tokens that fit beside the full windows", layer_tokens - growing.window_tokens,
                                    "if one layer had all the room")
                           : layer_tokens;
  const Ratio block(deployment.engine.memory.block);
  return Figure("Maximum context", min(kLongest, max(0.0, WholeBelow(tokens / (growing.layers * block)) * block)),
                "of a single sequence, in whole pages; sliding-window layers hold at most their window");
}

}  // namespace slipstick
