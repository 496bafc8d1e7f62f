// No time and no memory falls when training does more: any model on any cluster under any framework, over a range of
// each input that adds work.
#include <cmath>
#include <functional>

#include "tests/core/training/drawn.h"

namespace slipstick {
namespace {

constexpr int kRuns = 1600;
constexpr double kRungs[] = {0.25, 0.3, 0.5, 0.7, 0.75, 1, 1.01, 1.1, 1.25, 1.5, 1.6, 2, 2.2, 3, 4, 5, 8};
// A wider product may fill its tiles better.
constexpr double kTiles = 0.005;

// An input that adds work, and the figures that it must not lower.
struct WorkInput {
  const char* name;
  std::function<bool(Scenario&, double rung)> grow;  // false: the scenario lacks this input
  bool adds_time = true;
};

// In whole units, at least one.
bool Multiply(Tally& value, double rung, Count unit = 1) {
  if (value <= 0) return false;
  value = std::max<Count>(
              1, static_cast<Count>(std::lround(static_cast<double>(value) * rung / static_cast<double>(unit)))) *
          unit;
  return true;
}
bool IsWhole(double rung) { return rung >= 1 && rung == std::floor(rung); }

// Fewer, larger micro-batches fill the kernels better and leave a larger bubble.
bool GrowMicroBatch(Scenario& s, double rung) {
  return IsWhole(rung) && Multiply(s.training->mapping.micro_batch, rung);
}
bool GrowMicroBatches(Scenario& s, double rung) {
  return GrowMicroBatch(s, rung) &&
         Multiply(s.training->global_batch, rung, *s.training->mapping.dp * s.training->mapping.micro_batch);
}
// Where only some layers have an MLP, more layers combine it with other mixers.
bool GrowLayers(Scenario& s, double rung) {
  return s.model.mlp_layers == 0 &&
         Multiply(s.model.layers, rung, s.training->mapping.pp * s.training->mapping.virtual_stages);
}
bool GrowTopK(Scenario& s, double rung) {
  return s.model.moe && Multiply(s.model.moe->top_k, rung) && s.model.moe->top_k <= s.model.moe->experts;
}
bool GrowDocuments(Scenario& s, double rung) {
  s.training->documents = Documents{static_cast<Count>(256 * rung), 1, DocumentLayout::kPacked};
  return true;
}
// A member of the part `part` of a model, if the model has this part.
template <class Part>
std::function<bool(Scenario&, double)> Grow(std::optional<Part> Model::* part, Tally Part::* member, Count unit) {
  return [=](Scenario& s, double rung) { return s.model.*part && Multiply((*(s.model.*part)).*member, rung, unit); };
}
std::function<bool(Scenario&, double)> Grow(Tally Model::* member, Count unit) {
  return [=](Scenario& s, double rung) { return Multiply(s.model.*member, rung, unit); };
}

const std::vector<WorkInput>& WorkInputs() {
  static const std::vector<WorkInput> inputs{
      {"sequence",
       [](Scenario& s, double rung) { return Multiply(s.training->sequence, rung, s.training->mapping.cp * 8); }},
      {"documents", GrowDocuments},
      {"global batch",
       [](Scenario& s, double rung) { return Multiply(s.training->global_batch, rung, *s.training->mapping.dp); }},
      {"micro-batch", GrowMicroBatch, false},
      {"micro-batch, as many of them", GrowMicroBatches},
      {"layers", GrowLayers},
      {"hidden", Grow(&Model::hidden, 64)},
      {"ffn", Grow(&Model::ffn, 64)},
      {"vocabulary", Grow(&Model::vocab, 64)},
      {"heads",
       [](Scenario& s, double rung) {
         return Multiply(s.model.heads, rung, std::max<Count>(s.model.KvHeads(), s.training->mapping.tp));
       }},
      {"KV heads", [](Scenario& s, double rung) { return s.model.kv_heads && Multiply(*s.model.kv_heads, rung); }},
      {"head size", [](Scenario& s, double rung) { return s.model.head_dim && Multiply(*s.model.head_dim, rung, 8); }},
      {"window", [](Scenario& s, double rung) { return Multiply(s.model.window.tokens, rung, 64); }},
      {"modules", [](Scenario& s, double rung) { return IsWhole(rung) && Multiply(s.model.mtp_layers, rung); }},
      {"layer embeddings", [](Scenario& s, double rung) { return Multiply(s.model.layer_embeddings.width, rung, 64); }},
      {"experts' ffn", Grow(&Model::moe, &Moe::expert_ffn, 64)},
      {"shared experts' ffn", Grow(&Model::moe, &Moe::shared_ffn, 64)},
      {"experts' latent width", Grow(&Model::moe, &Moe::latent, 64)},
      {"top-k", GrowTopK},
      // The same tokens over more experts: each has fewer rows, which may fill its tiles better.
      {"experts", Grow(&Model::moe, &Moe::experts, 8), false},
      {"latent of queries", Grow(&Model::mla, &Mla::q_lora_rank, 8)},
      {"latent of keys", Grow(&Model::mla, &Mla::kv_lora_rank, 8)},
      {"latent head size", Grow(&Model::mla, &Mla::nope_head_dim, 8)},
      {"value head size", Grow(&Model::mla, &Mla::value_head_dim, 8)},
      {"selected tokens", Grow(&Model::indexer, &Indexer::top_k, 64)},
      {"indexer's heads", Grow(&Model::indexer, &Indexer::heads, 8)},
      {"recurrent state", Grow(&Model::linear_attention, &LinearAttention::state, 8)},
      {"recurrent head size", Grow(&Model::linear_attention, &LinearAttention::head_dim, 8)},
      {"adapters' rank",
       [](Scenario& s, double rung) {
         return s.training->trainable == Trainable::kLora && Multiply(s.training->framework.lora_rank, rung);
       }},
  };
  return inputs;
}

// Where the stages do not divide the layers, or the framework counts parameters, more work may move layers between
// stages, and the step then has another placement.
bool KeepsItsPlacement(const Scenario& scenario) {
  const TrainingMapping& mapping = scenario.training->mapping;
  const bool divides = scenario.model.layers % (mapping.pp * mapping.virtual_stages) == 0;
  return mapping.pp == 1 || (divides && !scenario.training->framework.places_by_cost);
}

template <class Q>
struct MostSoFar {
  Q most{};
  double at = 0;
  void Expect(Q value, double rung, const std::string& what) {
    EXPECT_GE(value.base() * (1 + kTiles), most.base()) << what << " from " << at << " to " << rung << " times";
    if (value > most) most = value, at = rung;
  }
};

void ExpectNoFall(const DrawnRun& drawn, const WorkInput& input) {
  MostSoFar<Seconds> time;
  MostSoFar<Bytes> memory;
  for (const double rung : kRungs) {
    Scenario scenario = *drawn.scenario;
    if (!input.grow(scenario, rung)) continue;
    scenario.training->mapping.dp.reset();
    Issues issues;
    Resolve(scenario, issues);
    if (!issues.empty()) continue;
    const TrainingReport report = Evaluated(scenario);
    if (input.adds_time)
      time.Expect(report.step_time, rung, "step time, " + std::string(input.name) + ", " + drawn.text);
    memory.Expect(report.memory.Total(), rung, "memory, " + std::string(input.name) + ", " + drawn.text);
  }
}

TEST(MoreWork, NeverTakesLessTimeOrMemory) {
  int valid = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const DrawnRun drawn = DrawnTraining(seed);
    if (!drawn.scenario || !KeepsItsPlacement(*drawn.scenario)) continue;
    ++valid;
    for (const WorkInput& input : WorkInputs()) ExpectNoFall(drawn, input);
  }
  EXPECT_GT(valid, kRuns / 3);
}

// Two stages with the same number of layers: the first has the dense layer, the second one more layer of experts.
// Experts over 8 of 32 ranks are reduced among 4 ranks, dense weights among 32 over the network. A wider dense layer
// comes to hold more than those experts, whose exchange takes as long as before.
TEST(MoreWork, LeavesTheSlowestExchangeAsItIs) {
  const auto with_ffn = [](Count ffn) {
    Scenario scenario =
        TrainingScenario(R"({"preset": "glm-4.5-air"})", R"({"preset": "dgx-v100", "devices": 64})",
                         R"({"framework": "xla", "sequence": 2048, "global_batch": 384, "recompute": "full",
                                             "mapping": {"tp": 1, "pp": 2, "ep": 8, "zero": 2, "schedule": "gpipe"}})");
    scenario.model.ffn = ffn;
    return Evaluated(scenario);
  };
  const TrainingReport narrow = with_ffn(54720), wide = with_ffn(87552);
  EXPECT_GE(wide.communication.dp, narrow.communication.dp);
  EXPECT_GE(wide.time.optimizer, narrow.time.optimizer);
  EXPECT_GE(wide.step_time, narrow.step_time);
}

}  // namespace
}  // namespace slipstick
