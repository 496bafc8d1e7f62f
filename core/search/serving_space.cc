#include "core/search/serving_space.h"

#include <cassert>

#include "core/engine_step/step_time.h"

namespace slipstick {
namespace {

constexpr Count kMaxBatch = 16384, kMaxPerDevice = 256, kMinChunk = 512, kMaxChunk = 16384;
constexpr Count kMinPromptPart =
    8192;  // tokens of a prompt that a rank keeps: fewer leave its kernels and the exchange little to share

// The load's own precision, or those that a limit lists.
std::vector<Precision> Formats(const SpaceLimits& limits, std::string_view member, Precision own) {
  const auto found = limits.find(member);
  if (found == limits.end() || found->second.among.empty()) return {own};
  std::vector<Precision> formats;
  for (const auto& [format, name] : EnumNames<Precision>::names) {
    if (found->second.Allows(name)) formats.push_back(format);
  }
  return formats;
}

// Powers of two, of sequences and of sequences per device.
std::vector<Count> Batches(const ServingLoad& load, Count devices, const SpaceLimits& limits) {
  if (load.requests_per_s) return {load.batch.count};  // in an open loop arrivals set the concurrency
  std::vector<Count> batches;
  for (Count batch = 1; batch <= kMaxBatch; batch *= 2) batches.push_back(batch);
  for (Count each = 1; each <= kMaxPerDevice; each *= 2) batches.push_back(each * devices);
  if (!load.batch.max) batches.push_back(load.batch.count);
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return Kept(limits, "batch", std::move(batches));
}

Count LongestPrompt(const ServingLoad& load) {
  Count longest = load.prompt;
  for (const RequestClass& one : load.mixture) longest = std::max(longest, one.prompt_tokens);
  return longest;
}

// 0: no chunking.
std::vector<std::optional<Count>> Chunks(const ServingLoad& load, const SpaceLimits& limits) {
  std::vector<Count> chunks{0};
  for (Count chunk = kMinChunk; chunk < LongestPrompt(load) && chunk <= kMaxChunk; chunk *= 2) chunks.push_back(chunk);
  if (load.prefill_chunk && std::find(chunks.begin(), chunks.end(), *load.prefill_chunk) == chunks.end()) {
    chunks.push_back(*load.prefill_chunk);
  }
  std::vector<std::optional<Count>> kept;
  for (const Count chunk : Kept(limits, "prefill_chunk", std::move(chunks))) {
    kept.push_back(chunk > 0 ? std::optional(chunk) : std::nullopt);
  }
  return kept;
}

// Degrees of context parallelism: none, the load's own, and the one at which no ranks hold copies of the same KV cache.
// A higher degree only trades heads for context, at the cost of an exchange.
std::vector<Count> Contexts(const Model& model, const ServingLoad& load, Count tp) {
  const Count cache_heads = model.mla ? 1 : Count{model.KvHeads()};
  std::vector<Count> contexts;
  Count all = 1;  // leaves no copies
  for (const Count cp : Divisors(tp)) {
    if (CompositionOf(load.engine).splits_context && cp * cache_heads <= tp) all = cp;
  }
  for (const Count cp : Divisors(tp)) {
    if (cp == 1 || cp == load.mapping.cp || cp == all) contexts.push_back(cp);
  }
  return contexts;
}

// Ways to split a prompt's tokens: not at all, as the load has it, and in powers of two that leave each rank a long
// part.
std::vector<Count> PromptParts(const Model& model, const ServingLoad& load, Count groups) {
  const bool splits = HasPrefillContext(load.engine) && !model.linear_attention;
  std::vector<Count> parts;
  for (const Count prefill_cp : Divisors(groups)) {
    const bool is_even = (prefill_cp & (prefill_cp - 1)) == 0 && LongestPrompt(load) / prefill_cp >= kMinPromptPart;
    if (prefill_cp == 1 || (splits && (is_even || prefill_cp == load.mapping.prefill_cp))) parts.push_back(prefill_cp);
  }
  return parts;
}

bool IsLegal(const Model& model, const ServingLoad& load, const ServingMapping& mapping) {
  const StepComposition& composition = CompositionOf(load.engine);
  if (!load.engine.kernels.pads_heads && model.heads % mapping.tp != 0) return false;
  if (mapping.pp > model.MostStages()) return false;
  return (composition.tensor_parallel || mapping.tp == 1) &&
         (composition.attention_groups || mapping.attention_dp == 1);
}

// Redundant experts fill every rank; without them ranks may differ by one expert.
bool HoldsExperts(const Moe& moe, Count redundant, Count ep) {
  const Count experts = moe.experts + redundant;
  return ep <= experts && (redundant == 0 || (ep > 1 && experts % ep == 0));
}

}  // namespace

std::vector<std::string_view> ServingSpace::Members() {
  return {"tp",    "cp",      "pp",          "ep",       "attention_dp",  "prefill_cp",      "replicas",
          "batch", "weights", "activations", "kv_cache", "prefill_chunk", "prefill_devices", "decode_devices"};
}

ServingSpace::ServingSpace(const Model& model, const ServingLoad& load, Count devices, const SpaceLimits& limits)
    : batches_(Batches(load, devices, limits)), chunks_(Chunks(load, limits)) {
  for (const Precision weights : Formats(limits, "weights", load.precision.weights)) {
    for (const Precision activations : Formats(limits, "activations", load.precision.activations)) {
      for (const Precision cache : Formats(limits, "kv_cache", load.precision.kv_cache)) {
        ServingPrecision& precision = precisions_.emplace_back(load.precision);
        precision.weights = weights;
        precision.activations = activations;
        precision.kv_cache = cache;
      }
    }
  }
  for (const Count tp : Kept(limits, "tp", Divisors(devices))) {
    const std::vector<Count> contexts = Kept(limits, "cp", Contexts(model, load, tp));
    for (const Count pp : Kept(limits, "pp", Divisors(devices / tp))) {
      for (const Count dp :
           Kept(limits, "attention_dp", model.moe ? Divisors(devices / tp / pp) : std::vector<Count>{1})) {
        for (const Count ep : Kept(limits, "ep", model.moe ? Divisors(tp * dp) : std::vector<Count>{1})) {
          if (model.moe && !HoldsExperts(*model.moe, load.redundant_experts, ep)) continue;
          ServingMapping mapping = load.mapping;
          mapping.tp = tp, mapping.pp = pp, mapping.ep = ep, mapping.attention_dp = dp;
          if (!IsLegal(model, load, mapping)) continue;
          for (const Count cp : contexts) {
            for (const Count prefill_cp :
                 Kept(limits, "prefill_cp", PromptParts(model, load, devices / tp / pp / dp))) {
              mapping.cp = cp, mapping.prefill_cp = prefill_cp;
              AddPools({mapping, std::nullopt}, load, devices, limits);
            }
          }
        }
      }
    }
  }
}

// One shared pool of whole groups, and every split into two.
void ServingSpace::AddPools(Block block, const ServingLoad& load, Count devices, const SpaceLimits& limits) {
  const Count group = DevicesPerReplica(block.mapping), groups = devices / group;
  if (devices % group != 0) return;
  for (Count prefill = 0; prefill < groups; ++prefill) {
    block.mapping.replicas = groups - prefill;
    if (prefill > 0) {
      block.disaggregated = load.disaggregated.value_or(Disaggregated{});
      block.disaggregated->prefill_devices = prefill * group;
      block.disaggregated->decode_devices = (groups - prefill) * group;
    }
    const Count decode_devices = prefill > 0 ? (groups - prefill) * group : 0;
    const bool splits_so =
        Allows(limits, "prefill_devices", prefill * group) && Allows(limits, "decode_devices", decode_devices);
    if (splits_so && Allows(limits, "replicas", groups - prefill)) blocks_.push_back(block);
  }
}

Count ServingSpace::Size() const {
  return static_cast<Count>(blocks_.size() * batches_.size() * precisions_.size() * chunks_.size());
}

ServingChoice ServingSpace::At(Count index) const {
  assert(index >= 0 && index < Size());
  auto rest = static_cast<std::size_t>(index);
  const auto take = [&rest](const auto& values) -> const auto& {
    const auto& value = values[rest % values.size()];
    rest /= values.size();
    return value;
  };
  ServingChoice choice;
  choice.batch = take(batches_);
  choice.prefill_chunk = take(chunks_);
  choice.precision = take(precisions_);
  const Block& block = take(blocks_);
  choice.mapping = block.mapping;
  choice.disaggregated = block.disaggregated;
  return choice;
}

}  // namespace slipstick
