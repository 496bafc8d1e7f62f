#include "core/simulation/simulated_deployment.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/engine_step/step_limits.h"
#include "core/serving/prefix_cache.h"

namespace slipstick {
namespace {

// Bytes of a sequence by its number of pages, each computed once; includes the prefixes of idle sessions per sequence,
// without the shared bytes.
std::function<Bytes(Count)> BytesByPage(const Deployment& deployment, Bytes shared) {
  struct Pages {
    const Deployment& deployment;
    Count block;
    Bytes beside;
    std::vector<Bytes> bytes;
  };
  const Bytes beside = IdlePrefixesOf(deployment).device - shared;
  const auto pages = std::make_shared<Pages>(Pages{deployment, deployment.engine.memory.block, beside, {}});
  return [pages](Count held_tokens) {
    const auto page = static_cast<std::size_t>((held_tokens + pages->block - 1) / pages->block);
    if (pages->bytes.size() <= page) pages->bytes.resize(2 * page + 1, Bytes::FromBase(-1));
    Bytes& bytes = pages->bytes[page];
    if (bytes < Bytes{}) {
      const auto tokens = static_cast<double>(page * static_cast<std::size_t>(pages->block));
      bytes = max(Bytes{}, pages->beside + BudgetOfSequence(pages->deployment, tokens));
    }
    return bytes;
  };
}

// In the closed forms a sequence holds `output_reserved` of its output. If admission reserves a share r of every future
// output, a sequence in the middle of its output holds 1/2 + r/2 of it.
double ReservedShare(const Engine& engine) { return max(0.0, 2 * engine.memory.output_reserved - 1); }

SchedulerRules RulesOf(const Deployment& deployment, const KvCacheBudget& budget) {
  const ServingLoad& load = deployment.load;
  const EngineScheduler& scheduler = load.engine.scheduler;
  SchedulerRules rules;
  rules.step_tokens = static_cast<double>(StepTokensOf(load, deployment.device).Most());
  rules.prefills_first = scheduler.prefills_first;
  rules.splits_prompts = SplitsPrompts(load);
  rules.collect_steps = scheduler.collect_steps;
  rules.collect_tokens = scheduler.collect_share * rules.step_tokens;
  rules.max_sequences = SequenceLimit(deployment, budget);
  rules.reserved = ReservedShare(load.engine);
  return rules;
}

// Time that loads add to a step.
Seconds LoadOf(const StepWork& work, Seconds step, const Deployment& deployment) {
  if (!deployment.load.prefix_cache || !(work.from_host + work.from_ssd > Bytes{})) return {};
  return ExposedLoad(deployment, TimeOfLoad(deployment, work.from_host, work.from_ssd), step);
}

// The tiers for idle contexts and blocks below device memory.
ContextMemory TiersOf(const Deployment& deployment, Count system_prompt) {
  ContextMemory contexts{system_prompt, {}, {}};
  if (const std::optional<PrefixCache>& tiers = deployment.load.prefix_cache) {
    contexts.host = min(tiers->host_capacity, deployment.device.host.memory);
    contexts.ssd = tiers->ssd_capacity;
  }
  return contexts;
}

KvCacheRoom RoomOf(const Deployment& deployment, const KvCacheBudget& budget) {
  const ServingLoad& load = deployment.load;
  if (!load.sessions) return {budget.Room(), BytesByPage(deployment, Bytes{})};
  const SessionMemory memory = SessionMemoryOf(deployment, budget);
  return {memory.room, BytesByPage(deployment, memory.system), TiersOf(deployment, load.sessions->system_prompt)};
}

}  // namespace

SimulatedDeployment::SimulatedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load)
    : deployment_(Deploy(model, cluster, load)),
      budget_(KvCacheBudgetOf(deployment_)),
      times_(model, cluster, load, budget_.kv_cache) {
  system_.rules = RulesOf(deployment_, budget_);
  if (load.engine.scheduler.loads_apart && load.prefix_cache)
    system_.rules.load_apart = [this](Bytes host, Bytes ssd) { return TimeOfLoad(deployment_, host, ssd); };
  system_.room = RoomOf(deployment_, budget_);
  system_.step_time = [this](const StepWork& work) {
    SimulatedStep step = times_.Of(work);
    const Seconds load_time = LoadOf(work, step.time, deployment_);
    return SimulatedStep{step.time + load_time, step.first + load_time};
  };
  system_.handling = HostFactor(load.tuning, load.engine) * load.engine.overhead.per_request;
  system_.token_handling = load.engine.overhead.per_prompt_token;
  system_.steps_ahead = static_cast<Count>(deployment_.launch.steps_ahead);
  system_.receive_interval = load.engine.scheduler.receive_interval;
  system_.replicas = static_cast<Count>(deployment_.mapping.replicas);
  system_.groups = static_cast<Count>(deployment_.mapping.attention_dp);
  if (load.simulate) system_.router = load.simulate->router;
}

void SimulatedDeployment::KeepContexts() { system_.room.contexts = TiersOf(deployment_, 0); }

void SimulatedDeployment::KeepBlocks(Count tokens, Count typical_prompt) {
  const Count blocks = std::max<Count>(1, typical_prompt / tokens);
  const Bytes bytes = system_.room.bytes_of(blocks * tokens) / static_cast<double>(blocks);
  const ContextMemory tiers = TiersOf(deployment_, 0);
  system_.room.blocks = BlockRoom{tokens, max(Bytes::FromBase(1), bytes), tiers.host, tiers.ssd};
}

}  // namespace slipstick
