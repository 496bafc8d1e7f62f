// Checks for contradictions between load, model and cluster, with fixes.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fix.h"
#include "core/base/nearest_counts.h"
#include "core/base/units.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/step_time.h"
#include "core/serving/serving.h"

namespace slipstick {
namespace {

void CheckSessions(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const Fix without = LeaveOut(path + ".sessions");
  const auto given = [&](bool is_given, const std::string& member, const std::string& why) {
    if (is_given) issues.push_back({path + member, "Leave out: " + why, {LeaveOut(path + member), without}});
  };
  const std::string follows = "it follows from the sessions", not_computed = "it is not computed with sessions";
  given(load.prefix_hit > 0, ".prefix_hit", follows);
  given(load.idle_sessions.has_value(), ".idle_sessions", follows);
  if (load.prefix_cache) {
    given(load.prefix_cache->host_share > 0, ".prefix_cache.host_share", follows);
    given(load.prefix_cache->ssd_share > 0, ".prefix_cache.ssd_share", follows);
    given(load.prefix_cache->prefixes > 0, ".prefix_cache.prefixes", follows);
  }
  given(load.disaggregated.has_value(), ".disaggregated", not_computed);
  given(load.kv_offload.has_value(), ".kv_offload", not_computed);
  given(load.waves.has_value(), ".waves", not_computed);
  const Count longest = LongestPrompt(*load.sessions, load.output) + load.output, most = model.positions.rows;
  const auto text = [](Count tokens) { return GroupedText(static_cast<double>(tokens)); };
  if (model.positions.encoding == Position::kLearned && most > 0 && longest > most) {
    issues.push_back(
        {path + ".sessions",
         "The last turn has " + text(longest) + " tokens, and the model " + text(most) + " learned positions",
         {without}});
  }
}

std::string Text(Count value) { return std::to_string(value); }

constexpr Count kMostDevices = 1 << 24, kMostRedundant = 1 << 16;  // as in their field tables

// a·b, or nothing on overflow: the degrees are range-checked one by one, their product is not.
std::optional<Count> Product(Count a, Count b) {
  constexpr Count kMost = Count{1} << 40;
  if (a > kMost / b) return std::nullopt;
  return a * b;
}

// DevicesPerReplica, or nothing on overflow.
std::optional<Count> GroupOf(const ServingMapping& mapping) {
  std::optional<Count> group = Product(mapping.tp, mapping.pp);
  if (group) group = Product(*group, mapping.attention_dp);
  return group ? Product(*group, mapping.prefill_cp) : std::nullopt;
}

// The degrees whose product is the size of a replica.
std::string GroupText(const ServingMapping& mapping) {
  return mapping.prefill_cp > 1 ? "TP·PP·DP attention·prefill CP" : "TP·PP·DP attention";
}

class Checker {
 public:
  Checker(ServingLoad& load, const Model& model, const Cluster& cluster, const std::string& path, Issues& issues)
      : load_(load), mapping_(load.mapping), model_(model), cluster_(cluster), path_(path), issues_(issues) {}

  void Run() {
    gives_devices_ = load_.devices.has_value();
    gives_replicas_ = mapping_.replicas.has_value();
    CheckHeads();
    CheckExperts();
    CheckDevices();
    CheckPools();
    CheckEngine();
    if (load_.sessions) CheckSessions(load_, model_, path_, issues_);
    if (load_.lengths) CheckRequestLengths(*load_.lengths, path_ + ".lengths", issues_);
    if (load_.concurrency && load_.requests_per_s) {
      Say(".requests_per_s", "Choose a closed loop (concurrency) or an open one (requests_per_s), not both",
          {LeaveOut(path_ + ".requests_per_s"), LeaveOut(path_ + ".concurrency")});
    }
  }

 private:
  void Say(const std::string& member, const std::string& message, Fixes fixes) {
    issues_.push_back({path_ + member, message, std::move(fixes)});
  }
  template <class Value>
  [[nodiscard]] Fix At(const std::string& member, Value value) const {
    return SetTo(path_ + member, value);
  }
  [[nodiscard]] Fixes AtEach(const std::string& member, const std::vector<Count>& values) const {
    return SetToEach(path_ + member, values);
  }

  [[nodiscard]] bool SplitsHeads(Count tp) const { return load_.engine.kernels.pads_heads || model_.heads % tp == 0; }
  [[nodiscard]] bool SplitsLayers() const { return !CompositionOf(load_.engine).tensor_parallel; }
  [[nodiscard]] Count Experts() const { return model_.moe ? model_.moe->experts + load_.redundant_experts : 1; }

  // Sets the number of devices, enlarging the cluster if necessary.
  [[nodiscard]] Fixes OnDevices(Count devices) const {
    if (devices > kMostDevices) return {};
    Fix fix = At(".devices", devices);
    if (devices > cluster_.devices) fix.also.push_back(SetTo("cluster.devices", devices).change);
    return {fix};
  }

  void CheckHeadsOf(const ServingMapping& mapping, const std::string& where) {
    if (!SplitsHeads(mapping.tp)) {
      Say(where + ".tp", "Must divide the model's " + Text(model_.heads) + " heads",
          SplitsLayers() ? Fixes{At(where + ".tp", 1)}
                         : AtEach(where + ".tp", NearestDivisors(model_.heads, mapping.tp)));
    }
    if (mapping.pp > model_.MostStages()) {
      Say(where + ".pp",
          model_.SharesKv() ? "Must be 1: layers share a KV cache with earlier ones"
                            : "At most the model's " + Text(model_.layers) + " layers",
          {At(where + ".pp", model_.MostStages())});
    }
    for (const auto& [member, message] : MissingDegrees(load_.engine, mapping)) {
      const std::string path = where + "." + std::string(member);
      Say(path, std::string(message), {At(path, 1)});
    }
  }
  void CheckHeads() { CheckHeadsOf(mapping_, ".mapping"); }

  void CheckExperts() {
    const Count redundant = load_.redundant_experts;
    if (redundant > 0 && (mapping_.ep == 1 || !model_.moe))
      Say(".redundant_experts", "Must be 0: no experts are spread over devices", {At(".redundant_experts", 0)});
    if (mapping_.ep == 1 || load_.engine.communication.split != ReplicaSplit::kAny) return;
    if (!model_.moe) return Say(".mapping.ep", "Must be 1: the model has no experts", {At(".mapping.ep", 1)});
    const std::optional<Count> ranks = Product(mapping_.tp, mapping_.attention_dp);
    const auto is_allowed = [&](Count ep) { return load_.engine.communication.AllowsEp(ep, ranks.value_or(1)); };
    const Fixes degrees = AtEach(".mapping.ep", NearestDivisors(ranks.value_or(1), mapping_.ep, [&](Count ep) {
                                   return ep != mapping_.ep && ep <= Experts() && is_allowed(ep);
                                 }));
    const std::string all = "TP·DP attention" + (ranks ? " = " + Text(*ranks) : std::string());
    if (!ranks || *ranks % mapping_.ep != 0) {
      Say(".mapping.ep", "Must divide " + all, degrees);
    } else if (!is_allowed(mapping_.ep)) {
      Say(".mapping.ep", load_.engine.name + " spreads experts over all ranks or none: must be 1 or " + all, degrees);
    }
    const std::string own = "At most the model's " + Text(model_.moe->experts) + " experts";
    if (mapping_.ep > Experts()) {
      const std::string more =
          redundant > 0 ? " and " + Text(redundant) + " redundant ones" : " (redundant_experts adds copies)";
      const Count missing = mapping_.ep - model_.moe->experts;
      Say(".mapping.ep", own + more,
          Joined({degrees, missing <= kMostRedundant ? Fixes{At(".redundant_experts", missing)} : Fixes{}}));
    } else if (redundant > 0 && Experts() % mapping_.ep != 0) {
      CheckRedundant();
    }
  }

  void CheckRedundant() {
    const Count below = Experts() / mapping_.ep * mapping_.ep - model_.moe->experts, above = below + mapping_.ep;
    std::vector<Count> counts;
    if (below >= 0) counts.push_back(below);
    if (above <= kMostRedundant) counts.push_back(above);
    Say(".redundant_experts",
        "Must divide evenly over the ranks: " + Text(model_.moe->experts) +
            " experts plus redundant ones must be a multiple of EP " + Text(mapping_.ep),
        AtEach(".redundant_experts", counts));
  }

  void CheckDevices() {
    if (load_.disaggregated) {
      const Count pools = load_.disaggregated->prefill_devices + load_.disaggregated->decode_devices;
      if (gives_devices_ && *load_.devices != pools) {
        Say(".devices", "Must be the two pools' " + Text(pools) + " devices", {At(".devices", pools)});
      }
      load_.devices = pools;
    } else if (!gives_devices_) {
      load_.devices = cluster_.devices;
    }
    const Count devices = *load_.devices;
    const std::optional<Count> group = GroupOf(mapping_);
    if (devices > cluster_.devices) return SayTooMany(devices, group);
    if (!group || *group > devices) {
      const std::string product = Text(mapping_.tp) + " · PP " + Text(mapping_.pp) + " · DP attention " +
                                  Text(mapping_.attention_dp) +
                                  (mapping_.prefill_cp > 1 ? " · prefill CP " + Text(mapping_.prefill_cp) : "");
      return Say(
          ".mapping",
          "TP " + product + (group ? " = " + Text(*group) : "") + " needs more than " + Text(devices) + " devices",
          Joined({SmallerGroups(mapping_, ".mapping", devices),
                  group && !load_.disaggregated ? OnDevices(*group) : Fixes()}));
    }
    if (load_.disaggregated) {
      const Disaggregated& pools = *load_.disaggregated;
      if (!pools.prefill_mapping)
        CheckPool(pools.prefill_devices, pools.decode_devices, *group, ".disaggregated.prefill_devices");
      CheckPool(pools.decode_devices, pools.prefill_devices, *group, ".disaggregated.decode_devices");
      mapping_.replicas = std::max<Count>(1, pools.decode_devices / *group);
    } else if (mapping_.replicas) {
      CheckReplicas(devices, *group);
    } else {
      CheckPool(devices, 0, *group, ".devices");
      mapping_.replicas = std::max<Count>(1, devices / *group);
    }
  }

  void SayTooMany(Count devices, std::optional<Count> group) {
    const std::string message = "At most the cluster's " + Text(cluster_.devices);
    Fixes larger;
    if (devices <= kMostDevices) larger.push_back(SetTo("cluster.devices", devices));
    if (load_.disaggregated) return Say(".disaggregated", message, larger);
    const Count fitting =
        group && *group <= cluster_.devices ? cluster_.devices / *group * *group : Count(cluster_.devices);
    Say(".devices", message, Joined({{At(".devices", fitting)}, larger}));
  }

  // Degrees that fit on `devices`: the nearest tp, or all degrees changed at once.
  [[nodiscard]] Fixes SmallerGroups(const ServingMapping& mapping, const std::string& where, Count devices) const {
    const Count most_tp = SplitsLayers() ? 1 : std::min<Count>(mapping.tp, devices);
    const auto suits = [&](Count tp, Count others) { return SplitsHeads(tp) && devices % (tp * others) == 0; };
    std::optional<Count> others = Product(mapping.pp, mapping.attention_dp);
    if (others) others = Product(*others, mapping.prefill_cp);
    Count tp = others && *others <= devices ? most_tp : 0;
    while (tp >= 1 && !suits(tp, *others)) --tp;
    if (tp >= 1 && tp != mapping.tp) return {At(where + ".tp", tp)};
    for (tp = most_tp; !suits(tp, 1);) --tp;
    Fix together = At(where + ".tp", tp);
    if (mapping.pp > 1) together.also.push_back(At(where + ".pp", 1).change);
    if (mapping.attention_dp > 1) together.also.push_back(At(where + ".attention_dp", 1).change);
    if (mapping.prefill_cp > 1) together.also.push_back(At(where + ".prefill_cp", 1).change);
    return {together};
  }

  // Checks the size of a pool; `other`: devices of the other pool of a disaggregated load.
  void CheckPool(Count pool, Count other, Count group, const std::string& where) {
    if (pool % group == 0) return;
    const Count below = pool / group * group;
    Fixes fixes;
    for (const Count devices : {below, below + group}) {
      if (devices == 0 || (!load_.disaggregated && devices > cluster_.devices)) continue;
      Fix fix = At(where, devices);
      if (load_.disaggregated && gives_devices_) fix.also.push_back(At(".devices", devices + other).change);
      if (devices + other > cluster_.devices) fix.also.push_back(SetTo("cluster.devices", devices + other).change);
      fixes.push_back(std::move(fix));
    }
    Say(where, "Must be a multiple of " + GroupText(mapping_) + " = " + Text(group), std::move(fixes));
  }

  void CheckReplicas(Count devices, Count group) {
    const std::optional<Count> used = Product(group, *mapping_.replicas);
    if (used && *used == devices) return;
    const Count fitting = devices / group;
    Fix fix = At(".mapping.replicas", fitting);
    if (devices % group != 0) fix.also.push_back(At(".devices", fitting * group).change);
    Say(".mapping.replicas",
        "Must be devices / (" + GroupText(mapping_) + ") = " + Text(devices) + " / " + Text(group) + " = " +
            Text(fitting),
        Joined({{fix}, used ? OnDevices(*used) : Fixes()}));
  }

  // Context parallelism and the prefill pool.
  void CheckPools() {
    const bool splits_context = CompositionOf(load_.engine).splits_context;
    const Fixes degrees =
        splits_context ? AtEach(".mapping.cp", NearestDivisors(mapping_.tp, mapping_.cp)) : Fixes{At(".mapping.cp", 1)};
    if (mapping_.tp % mapping_.cp != 0) {
      Say(".mapping.cp", "Must divide TP " + Text(mapping_.tp), degrees);
    }
    if (mapping_.cp > 1 && !splits_context) {
      Say(".mapping.cp", "Must be 1: this engine has no context parallelism", degrees);
    }
    CheckPromptSplit(mapping_, ".mapping");
    if (load_.disaggregated && load_.disaggregated->prefill_mapping) {
      CheckPrefillPool(*load_.disaggregated->prefill_mapping, load_.disaggregated->prefill_devices);
    }
  }

  void CheckPromptSplit(const ServingMapping& mapping, const std::string& where) {
    if (mapping.prefill_cp == 1) return;
    const Fixes fixes{At(where + ".prefill_cp", 1)};
    if (!HasPrefillContext(load_.engine)) {
      Say(where + ".prefill_cp", "Must be 1: this engine has no prefill context parallelism", fixes);
    } else if (model_.linear_attention) {
      Say(where + ".prefill_cp", "Must be 1: the state of a recurrence is not handed from rank to rank", fixes);
    }
  }

  void CheckPrefillPool(const ServingMapping& prefill, Count devices) {
    const std::string where = ".disaggregated.prefill_mapping";
    const std::optional<Count> group = GroupOf(prefill);
    if (!group || devices % *group != 0) {
      Say(where, GroupText(prefill) + " must divide the pool's " + Text(devices) + " devices",
          SmallerGroups(prefill, where, devices));
    }
    CheckHeadsOf(prefill, where);
    CheckPromptSplit(prefill, where);
    const std::optional<Count> ranks = Product(prefill.tp, prefill.attention_dp);
    if (prefill.ep > 1 && (!model_.moe || !ranks || *ranks % prefill.ep != 0 || prefill.ep > Experts())) {
      const Count shared = model_.moe && ranks ? *ranks : 1;
      Say(where + ".ep", "Must divide TP·DP attention, and needs a model with experts",
          AtEach(where + ".ep", NearestDivisors(shared, prefill.ep, [&](Count ep) { return ep <= Experts(); })));
    }
    if (prefill.cp > 1) {
      Say(where + ".cp", "Must be 1: a prefill pool does not decode", {At(where + ".cp", 1)});
    }
  }

  void CheckEngine() {
    const Engine& engine = load_.engine;
    if (!CompositionOf(engine).has_constants(engine)) {
      const std::string name(NameOf(engine.composition));
      Say(".engine." + name, "is needed by an engine whose composition is " + name,
          {At(".engine.composition", NameOf(Composition::kKernels))});
    }
    CheckLengths();
    if (load_.images) CheckImages(load_, model_, path_, issues_);
    if (load_.block_diffusion) CheckBlockDiffusion();
    if (load_.host_experts) CheckHostExperts();
    if (load_.prefix_cache && load_.prefix_cache->host_share + load_.prefix_cache->ssd_share > 1) {
      Say(".prefix_cache.ssd_share", "The shares of host memory and SSD must add up to at most 1",
          {SetToBase(path_ + ".prefix_cache.ssd_share", 1 - load_.prefix_cache->host_share)});
    }
  }

  void CheckBlockDiffusion() {
    if (load_.speculative) {
      Say(".speculative", "Must be off: block diffusion has no drafts to verify",
          {LeaveOut(path_ + ".speculative"), LeaveOut(path_ + ".block_diffusion")});
    }
    const BlockDiffusion& diffusion = *load_.block_diffusion;
    if (diffusion.tokens_per_step > static_cast<double>(diffusion.block)) {
      Say(".block_diffusion.tokens_per_step", "At most " + Text(diffusion.block) + ", the tokens of a block",
          {At(".block_diffusion.tokens_per_step", diffusion.block)});
    }
  }

  void CheckHostExperts() {
    const Fixes fixes{LeaveOut(path_ + ".host_experts")};
    if (!model_.moe) return Say(".host_experts", "Needs a model with experts", fixes);
    if (!load_.engine.host_products)
      return Say(".host_experts", "This engine keeps all weights in device memory", fixes);
    if (*load_.devices > 1) {
      Say(".host_experts", "Needs a single device: its host's processor serves the layers in turn",
          Joined({fixes, {OnOneDevice()}}));
    }
    if (load_.speculative && load_.speculative->modules > 0) {
      Say(".speculative.modules", "Must be 0: each module has a layer of experts, which are in device memory only",
          Joined({{At(".speculative.modules", 0)}, fixes}));
    }
  }

  [[nodiscard]] Fix OnOneDevice() const {
    Fix fix = At(".devices", 1);
    if (gives_replicas_) fix.also.push_back(At(".mapping.replicas", 1).change);
    if (load_.redundant_experts > 0) fix.also.push_back(At(".redundant_experts", 0).change);
    if (load_.disaggregated) fix.also.push_back(LeaveOut(path_ + ".disaggregated").change);
    const std::pair<const char*, Count> degrees[]{{"tp", mapping_.tp},
                                                  {"pp", mapping_.pp},
                                                  {"cp", mapping_.cp},
                                                  {"ep", mapping_.ep},
                                                  {"attention_dp", mapping_.attention_dp},
                                                  {"prefill_cp", mapping_.prefill_cp}};
    for (const auto& [degree, value] : degrees) {
      if (value > 1) fix.also.push_back(At(std::string(".mapping.") + degree, 1).change);
    }
    return fix;
  }

  void CheckLengths() {
    const Count most = model_.positions.rows;
    if (model_.positions.encoding != Position::kLearned || most <= 0 || load_.prompt + load_.output <= most) return;
    Fixes fixes;
    if (most > load_.output) fixes.push_back(At(".prompt", most - load_.output));
    if (most > load_.prompt) fixes.push_back(At(".output", most - load_.prompt));
    if (fixes.empty() && most > 1)
      fixes.push_back({At(".prompt", most / 2).change, {At(".output", most - most / 2).change}});
    Say(".prompt", "Prompt + output must be at most the model's " + Text(most) + " learned positions",
        std::move(fixes));
  }

  ServingLoad& load_;
  ServingMapping& mapping_;
  const Model& model_;
  const Cluster& cluster_;
  const std::string& path_;
  Issues& issues_;
  bool gives_devices_ = false, gives_replicas_ = false;  // stated by the load, not derived
};

}  // namespace

void ValidateAndFillDefaults(ServingLoad& load, const Model& model, const Cluster& cluster, const std::string& path,
                             Issues& issues) {
  Checker(load, model, cluster, path, issues).Run();
}

}  // namespace slipstick
