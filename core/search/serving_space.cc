#include "core/search/serving_space.h"

#include <cassert>
#include <string>
#include <utility>

#include "core/engine_step/step_time.h"

namespace slipstick {
namespace {

constexpr Count kMaxBatch = 16384, kMaxPerDevice = 256, kMinChunk = 512, kMaxChunk = 16384;
constexpr Count kMinPromptPart = 8192;  // least prompt tokens per rank: fewer leave too little work to share

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

// Powers of two, as sequences and as sequences per device.
std::vector<Count> Batches(const ServingLoad& load, Count devices, const SpaceLimits& limits) {
  // In an open loop arrivals set the concurrency; a stated one sets the batch.
  if (load.requests_per_s || load.concurrency) return {load.batch.count};
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

// Prefill chunks; 0 means no chunking.
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

// Degrees of context parallelism: none, the load's own, and the lowest at which no two ranks hold copies of the same KV
// cache. A higher degree would only trade heads for context, at the cost of an exchange.
std::vector<Count> Contexts(const Model& model, const ServingLoad& load, Count tp) {
  const Count cache_heads = model.mla ? 1 : Count{model.KvHeads()};
  std::vector<Count> contexts;
  Count all = 1;  // degree that leaves no copies
  for (const Count cp : Divisors(tp)) {
    if (CompositionOf(load.engine).splits_context && cp * cache_heads <= tp) all = cp;
  }
  for (const Count cp : Divisors(tp)) {
    if (cp == 1 || cp == load.mapping.cp || cp == all) contexts.push_back(cp);
  }
  return contexts;
}

// Ways to split a prompt's tokens: not at all, as in the load, and in powers of two that leave each rank a long part.
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
  if (!load.engine.kernels.pads_heads && model.heads % mapping.tp != 0) return false;
  if (mapping.pp > model.MostStages()) return false;
  if (!load.engine.communication.AllowsEp(mapping.ep, mapping.tp * mapping.attention_dp)) return false;
  return MissingDegrees(load.engine, mapping).empty();
}

// Whether the ranks can hold the experts: equally many on all ranks if some are redundant; else they may differ by one.
bool HoldsExperts(const Moe& moe, Count redundant, Count ep) {
  const Count experts = moe.experts + redundant;
  return ep <= experts && (redundant == 0 || (ep > 1 && experts % ep == 0));
}

// Prefix of the prefill pool's member names in the limits.
constexpr std::string_view kPrefillMapping = "prefill_mapping.";

// All layouts of replicas on a pool of `devices`; `pool`: prefix of its member names in the limits. A pool that only
// prefills splits no contexts.
std::vector<ServingMapping> Layouts(const Model& model, const ServingLoad& load, const ServingMapping& own,
                                    Count devices, std::string_view pool, const SpaceLimits& limits) {
  const auto kept = [&](const char* member, std::vector<Count> candidates) {
    return Kept(limits, std::string(pool) + member, std::move(candidates));
  };
  const std::vector<Count> one{1};
  std::vector<ServingMapping> layouts;
  for (const Count tp : kept("tp", Divisors(devices))) {
    const std::vector<Count> contexts = kept("cp", pool == kPrefillMapping ? one : Contexts(model, load, tp));
    for (const Count pp : kept("pp", Divisors(devices / tp))) {
      for (const Count dp : kept("attention_dp", model.moe ? Divisors(devices / tp / pp) : one)) {
        for (const Count ep : kept("ep", model.moe ? Divisors(tp * dp) : one)) {
          if (model.moe && !HoldsExperts(*model.moe, load.redundant_experts, ep)) continue;
          ServingMapping mapping = own;
          mapping.tp = tp, mapping.pp = pp, mapping.ep = ep, mapping.attention_dp = dp;
          if (!IsLegal(model, load, mapping)) continue;
          for (const Count cp : contexts) {
            for (const Count prefill_cp : kept("prefill_cp", PromptParts(model, load, devices / tp / pp / dp))) {
              mapping.cp = cp, mapping.prefill_cp = prefill_cp;
              mapping.replicas = devices / DevicesPerReplica(mapping);
              layouts.push_back(mapping);
            }
          }
        }
      }
    }
  }
  return layouts;
}

// Whether the limits allow a prefill pool with the mapping of the decode pool.
bool AllowsPrefill(const SpaceLimits& limits, const ServingMapping& mapping) {
  const auto allows = [&limits](const char* member, Count value) {
    return Allows(limits, std::string(kPrefillMapping) + member, value);
  };
  return allows("tp", mapping.tp) && allows("pp", mapping.pp) && allows("ep", mapping.ep) &&
         allows("attention_dp", mapping.attention_dp) && allows("prefill_cp", mapping.prefill_cp);
}

}  // namespace

std::vector<std::string_view> ServingSpace::Members() {
  return {"tp",
          "cp",
          "pp",
          "ep",
          "attention_dp",
          "prefill_cp",
          "replicas",
          "batch",
          "weights",
          "activations",
          "kv_cache",
          "prefill_chunk",
          "prefill_devices",
          "decode_devices",
          "prefill_mapping.tp",
          "prefill_mapping.pp",
          "prefill_mapping.ep",
          "prefill_mapping.attention_dp",
          "prefill_mapping.prefill_cp"};
}

ServingSpace::ServingSpace(const Model& model, const ServingLoad& load, Count devices, const SpaceLimits& limits)
    : chunks_(Chunks(load, limits)) {
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
  ServingLoad asked = load;
  if (limits.contains("batch")) asked.concurrency.reset();
  concurrency_ = asked.concurrency;
  if (const Disaggregated* const kinds = PoolsOfTwoKinds(load)) {
    batches_ = Batches(asked, kinds->decode_devices, limits);
    AddPoolsOfTwoKinds(model, load, *kinds, limits);
    return;
  }
  batches_ = Batches(asked, devices, limits);
  for (const ServingMapping& mapping : Layouts(model, load, load.mapping, devices, "", limits))
    AddPools({mapping, std::nullopt}, devices, limits);
}

// Adds one shared pool of whole groups, and every split into two pools.
void ServingSpace::AddPools(Block block, Count devices, const SpaceLimits& limits) {
  const Count group = DevicesPerReplica(block.mapping), groups = devices / group;
  for (Count prefill = 0; prefill < groups; ++prefill) {
    block.mapping.replicas = groups - prefill;
    if (prefill > 0) {
      if (!AllowsPrefill(limits, block.mapping)) return;
      block.pools.emplace();
      block.pools->prefill_devices = prefill * group;
      block.pools->decode_devices = (groups - prefill) * group;
    }
    AddAllowed(block, limits);
  }
}

// Devices of two kinds are not redistributed: each pool keeps the load's number of devices, and has its own layout.
void ServingSpace::AddPoolsOfTwoKinds(const Model& model, const ServingLoad& load, const Disaggregated& pools,
                                      const SpaceLimits& limits) {
  prefill_mappings_.clear();
  const ServingMapping& own = pools.prefill_mapping ? *pools.prefill_mapping : load.mapping;
  for (const ServingMapping& mapping : Layouts(model, load, own, pools.prefill_devices, kPrefillMapping, limits))
    prefill_mappings_.emplace_back(mapping);
  for (const ServingMapping& mapping : Layouts(model, load, load.mapping, pools.decode_devices, "", limits))
    AddAllowed({mapping, pools}, limits);
}

void ServingSpace::AddAllowed(const Block& block, const SpaceLimits& limits) {
  const Count prefill = block.pools ? Count(block.pools->prefill_devices) : 0,
              decode = block.pools ? Count(block.pools->decode_devices) : 0;
  if (Allows(limits, "prefill_devices", prefill) && Allows(limits, "decode_devices", decode) &&
      Allows(limits, "replicas", Count(*block.mapping.replicas)))
    blocks_.push_back(block);
}

Count ServingSpace::Size() const {
  return static_cast<Count>(blocks_.size() * prefill_mappings_.size() * batches_.size() * precisions_.size() *
                            chunks_.size());
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
  const std::optional<ServingMapping>& prefill_mapping = take(prefill_mappings_);
  const Block& block = take(blocks_);
  choice.mapping = block.mapping;
  if (concurrency_) choice.batch = (*concurrency_ + *choice.mapping.replicas - 1) / *choice.mapping.replicas;
  choice.disaggregated = block.pools;
  if (prefill_mapping) choice.disaggregated->prefill_mapping = prefill_mapping;
  return choice;
}

}  // namespace slipstick
