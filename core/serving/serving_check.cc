// Contradictions between a load, the model and the cluster.
#include <algorithm>
#include <cstdint>

#include "core/serving/serving.h"

namespace slipstick {
namespace {

std::string Text(Count value) { return std::to_string(value); }

// The divisors of `whole` next below and above `value`, as advice.
std::string NearestDivisors(Count whole, Count value) {
  Count below = 0, above = 0;
  for (Count i = 1; i * i <= whole; ++i) {
    if (whole % i != 0) continue;
    for (const Count divisor : {i, whole / i}) {
      if (divisor <= value) below = std::max(below, divisor);
      if (divisor >= value) above = above == 0 ? divisor : std::min(above, divisor);
    }
  }
  if (below == 0) return Text(above);
  if (above == 0 || above == below) return Text(below);
  return Text(below) + " or " + Text(above);
}

// a·b, or nothing where it would not fit: degrees are checked one by one, their product is not.
std::optional<Count> Product(Count a, Count b) {
  constexpr Count kMost = Count{1} << 40;
  if (a > kMost / b) return std::nullopt;
  return a * b;
}

void CheckHeads(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const ServingMapping& mapping = load.mapping;
  if (!load.engine.pads_heads && model.heads % mapping.tp != 0) {
    issues.push_back({path + ".mapping.tp", "expected a divisor of the model's " + Text(model.heads) + " heads; got " + Text(mapping.tp) +
                                                "; nearest " + NearestDivisors(model.heads, mapping.tp)});
  }
  if (mapping.pp > model.layers) {
    issues.push_back({path + ".mapping.pp", "expected at most the model's " + Text(model.layers) + " layers; got " + Text(mapping.pp)});
  }
}

void CheckExperts(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const ServingMapping& mapping = load.mapping;
  if (load.redundant_experts > 0 && (mapping.ep == 1 || !model.moe)) {
    issues.push_back({path + ".redundant_experts", "expected 0: no experts are spread over devices; got " + Text(load.redundant_experts)});
  }
  if (mapping.ep == 1) return;
  if (!model.moe) {
    issues.push_back({path + ".mapping.ep", "expected 1: the model has no experts; got " + Text(mapping.ep)});
    return;
  }
  const std::optional<Count> ranks = Product(mapping.tp, mapping.attention_dp);
  if (!ranks || *ranks % mapping.ep != 0) {
    issues.push_back({path + ".mapping.ep",
                      "expected a divisor of tp·attention_dp" +
                          (ranks ? " = " + Text(*ranks) + "; got " + Text(mapping.ep) + "; nearest " + NearestDivisors(*ranks, mapping.ep)
                                 : "; got " + Text(mapping.ep))});
  }
  const Count experts = model.moe->experts + load.redundant_experts;
  if (mapping.ep > experts) {
    issues.push_back({path + ".mapping.ep", load.redundant_experts > 0
                                                ? "expected at most the model's " + Text(model.moe->experts) + " experts and " +
                                                      Text(load.redundant_experts) + " redundant ones; got " + Text(mapping.ep)
                                                : "expected at most the model's " + Text(model.moe->experts) +
                                                      " experts (redundant_experts adds copies); got " + Text(mapping.ep)});
  } else if (load.redundant_experts > 0 && experts % mapping.ep != 0) {
    const Count below = experts / mapping.ep * mapping.ep - model.moe->experts;
    issues.push_back({path + ".redundant_experts", "expected a number that fills every rank: " + Text(model.moe->experts) +
                                                       " experts and the redundant ones a multiple of ep " + Text(mapping.ep) + "; got " +
                                                       Text(load.redundant_experts) + "; nearest " +
                                                       (below >= 0 ? Text(below) + " or " : std::string()) + Text(below + mapping.ep)});
  }
}

void CheckDevices(ServingLoad& load, const Cluster& cluster, const std::string& path, Issues& issues) {
  ServingMapping& mapping = load.mapping;
  const bool was_given = load.devices.has_value();
  if (load.disaggregated) {
    const Count pools = load.disaggregated->prefill_devices + load.disaggregated->decode_devices;
    if (was_given && *load.devices != pools) {
      issues.push_back({path + ".devices", "expected the two pools' " + Text(pools) + " devices; got " + Text(*load.devices)});
    }
    load.devices = pools;
  } else if (!was_given) {
    load.devices = cluster.devices;
  }
  const Count devices = *load.devices;
  if (devices > cluster.devices) {
    issues.push_back({path + (load.disaggregated ? ".disaggregated" : ".devices"),
                      "expected at most the cluster's " + Text(cluster.devices) + "; got " + Text(devices)});
    return;
  }
  std::optional<Count> group = Product(mapping.tp, mapping.pp);
  if (group) group = Product(*group, mapping.attention_dp);
  if (!group || *group > devices) {
    issues.push_back(
        {path + ".mapping", "expected tp·pp·attention_dp of at most " + Text(devices) + " devices; got " +
                                (group ? Text(*group) : Text(mapping.tp) + "·" + Text(mapping.pp) + "·" + Text(mapping.attention_dp))});
    return;
  }
  const auto check_pool = [&](Count pool, const std::string& where) {
    if (pool % *group == 0) return;
    const Count below = pool / *group * *group;
    issues.push_back({path + where, "expected a multiple of tp·pp·attention_dp = " + Text(*group) + "; got " + Text(pool) + "; nearest " +
                                        (below > 0 ? Text(below) + " or " : std::string()) + Text(below + *group)});
  };
  if (load.disaggregated) {
    if (!load.disaggregated->prefill_mapping) check_pool(load.disaggregated->prefill_devices, ".disaggregated.prefill_devices");
    check_pool(load.disaggregated->decode_devices, ".disaggregated.decode_devices");
    mapping.replicas = std::max<Count>(1, load.disaggregated->decode_devices / *group);
    return;
  }
  if (mapping.replicas) {
    const std::optional<Count> used = Product(*group, *mapping.replicas);
    if (!used || *used != devices) {
      issues.push_back({path + ".mapping.replicas", "expected devices / (tp·pp·attention_dp) = " + Text(devices) + " / " + Text(*group) +
                                                        " = " + Text(devices / *group) + "; got " + Text(*mapping.replicas)});
    }
    return;
  }
  check_pool(devices, ".devices");
  mapping.replicas = std::max<Count>(1, devices / *group);
}

// Degrees that the attention core and the prefill pool add.
void CheckPools(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const ServingMapping& mapping = load.mapping;
  if (mapping.tp % mapping.cp != 0) {
    issues.push_back({path + ".mapping.cp", "expected a divisor of tp " + Text(mapping.tp) + "; got " + Text(mapping.cp) + "; nearest " +
                                                NearestDivisors(mapping.tp, mapping.cp)});
  }
  if (mapping.cp > 1 && load.engine.composition != Composition::kKernels) {
    issues.push_back({path + ".mapping.cp", "expected 1: this engine splits no context; got " + Text(mapping.cp)});
  }
  if (!load.disaggregated || !load.disaggregated->prefill_mapping) return;
  const ServingMapping& prefill = *load.disaggregated->prefill_mapping;
  const std::string where = path + ".disaggregated.prefill_mapping";
  std::optional<Count> group = Product(prefill.tp, prefill.pp);
  if (group) group = Product(*group, prefill.attention_dp);
  if (!group || load.disaggregated->prefill_devices % *group != 0) {
    issues.push_back({where, "expected tp·pp·attention_dp to divide the pool's " + Text(load.disaggregated->prefill_devices) + " devices"});
  }
  if (!load.engine.pads_heads && model.heads % prefill.tp != 0) {
    issues.push_back({where + ".tp", "expected a divisor of the model's " + Text(model.heads) + " heads; got " + Text(prefill.tp) +
                                         "; nearest " + NearestDivisors(model.heads, prefill.tp)});
  }
  if (prefill.pp > model.layers) {
    issues.push_back({where + ".pp", "expected at most the model's " + Text(model.layers) + " layers; got " + Text(prefill.pp)});
  }
  const std::optional<Count> ranks = Product(prefill.tp, prefill.attention_dp);
  if (prefill.ep > 1 && (!model.moe || !ranks || *ranks % prefill.ep != 0 || prefill.ep > model.moe->experts + load.redundant_experts)) {
    issues.push_back({where + ".ep", "expected a divisor of tp·attention_dp, and experts in the model; got " + Text(prefill.ep)});
  }
  if (prefill.cp > 1) issues.push_back({where + ".cp", "expected 1: a prefill pool does not decode; got " + Text(prefill.cp)});
}

void CheckEngine(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const Engine& engine = load.engine;
  if (engine.composition == Composition::kWholeLayer && !engine.whole_layer) {
    issues.push_back({path + ".engine.whole_layer", "is needed by an engine whose composition is whole_layer"});
  }
  if (engine.composition == Composition::kLayerSplit) {
    if (!engine.layer_split) issues.push_back({path + ".engine.layer_split", "is needed by an engine whose composition is layer_split"});
    if (load.mapping.tp != 1) {
      issues.push_back({path + ".mapping.tp", "expected 1: this engine splits layers over pp; got " + Text(load.mapping.tp)});
    }
  }
  if (engine.composition != Composition::kKernels && load.mapping.attention_dp != 1) {
    issues.push_back({path + ".mapping.attention_dp", "expected 1: this engine has none; got " + Text(load.mapping.attention_dp)});
  }
  if (model.position == Position::kLearned && model.max_positions > 0 && load.prompt + load.output > model.max_positions) {
    issues.push_back({path + ".prompt", "expected prompt + output of at most the model's " + Text(model.max_positions) +
                                            " learned positions; got " + Text(load.prompt + load.output)});
  }
}

}  // namespace

void Complete(ServingLoad& load, const Model& model, const Cluster& cluster, const std::string& path, Issues& issues) {
  CheckHeads(load, model, path, issues);
  CheckExperts(load, model, path, issues);
  CheckDevices(load, cluster, path, issues);
  CheckPools(load, model, path, issues);
  CheckEngine(load, model, path, issues);
  if (load.concurrency && load.requests_per_s) {
    issues.push_back({path + ".requests_per_s", "expected a closed loop (concurrency) or an open one (requests_per_s), not both"});
  }
}

}  // namespace slipstick
