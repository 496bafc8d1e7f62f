#include "core/training_stage/state_bytes.h"

#include <optional>

#include "core/base/trace.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr double kByteWithScale = 1 + 4.0 / 256;  // an fp32 scale per block of 256

double BytesOf(StatePrecision precision) {
  switch (precision) {
    case StatePrecision::kFp32:
      return 4;
    case StatePrecision::kBf16:
    case StatePrecision::kFp16:
      return 2;
    case StatePrecision::kFp8:
    case StatePrecision::kInt8:
      return 1 + kFp32BlockScale;
    case StatePrecision::kNone:
      return 0;
  }
  return 4;
}

// The format of the weights that the optimizer updates, where the run states it and the framework keeps no other
// weights.
std::optional<double> StatedWeights(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  if (!context.framework().memory.weights_are_master || BytesPerElement(run.precision) >= 4 ||
      !run.state.master_weights)
    return {};
  return *run.state.master_weights == StatePrecision::kNone ? 2 : BytesOf(*run.state.master_weights);
}

struct OptimizerBytes {
  double master, moment;
  std::string_view master_input;
};
OptimizerBytes OptimizerBytesOf(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  const bool wide = BytesPerElement(run.precision) >= 4,
             has_master = !context.framework().memory.weights_are_master && !wide;
  // PyTorch's optimizers keep their state in the format of the weights.
  const double own_moment = run.optimizer == Optimizer::kAdam8Bit ? kByteWithScale : StatedWeights(context).value_or(4);
  const double moment = run.state.moments ? BytesOf(*run.state.moments) : own_moment;
  if (StatedWeights(context)) return {0, moment, "training.framework.memory.weights_are_master"};
  if (run.state.master_weights) return {BytesOf(*run.state.master_weights), moment, "training.state.master_weights"};
  if (has_master && NarrowRecipe(context))
    return {context.framework().optimizer.master_weights_fp8, moment,
            "training.framework.optimizer.master_weights_fp8"};
  return {has_master ? BytesOf(StatePrecision::kFp32) : 0, moment, "training.framework.memory.weights_are_master"};
}

}  // namespace

bool NarrowRecipe(const TrainingContext& context) {
  return BytesPerElement(NativePrecision(context.device(), context.run.precision)) < 2;
}

double FrozenBytes(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  if (!run.frozen_precision) {
    return NarrowRecipe(context) ? context.framework().memory.frozen_weights_fp8
                                 : Ratio(BytesPerElement(NativePrecision(context.device(), run.precision)));
  }
  switch (*run.frozen_precision) {
    case FrozenPrecision::kBf16:
      return 2;
    case FrozenPrecision::kFp8:
    case FrozenPrecision::kInt8:
      return 1;
    case FrozenPrecision::kNf4:
      return 1.0 / 2 + kByteWithScale / 64;
  }
  return 2;
}

bool UnpacksWeights(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  return run.trainable == Trainable::kLora && run.frozen_precision &&
         FrozenBytes(context) < BytesPerElement(NativePrecision(context.device(), run.precision));
}

std::string_view InputOfFrozenBytes(const TrainingContext& context) {
  if (context.run.frozen_precision) return "training.frozen_precision";
  return NarrowRecipe(context) ? "training.framework.memory.frozen_weights_fp8" : "training.precision";
}

StateBytes StateBytesOf(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  const FrameworkMemory& framework = context.framework().memory;
  const bool narrow = NarrowRecipe(context), wide = BytesPerElement(run.precision) >= 4;
  StateBytes bytes;
  const std::optional<double> stated = StatedWeights(context);
  bytes.weights = bytes.adapter_weights = wide     ? Ratio(4)
                                          : stated ? Ratio(*stated)
                                          : narrow ? framework.weights_fp8
                                                   : framework.weights;
  // Frozen weights are never updated, so the format of the GEMMs is enough.
  if (run.trainable == Trainable::kLora) bytes.weights = FrozenBytes(context);
  bytes.gradients = run.state.gradients ? Ratio(BytesOf(*run.state.gradients))
                    : stated            ? Ratio(*stated)
                    : narrow            ? framework.gradients_fp8
                                        : framework.gradients;
  const OptimizerBytes optimizer = OptimizerBytesOf(context);
  switch (run.optimizer) {
    case Optimizer::kAdamW:
    case Optimizer::kAdam8Bit:
      bytes.optimizer = optimizer.master + 2 * optimizer.moment;
      break;
    case Optimizer::kMuon:
    case Optimizer::kSgd:
      bytes.optimizer = optimizer.master + optimizer.moment;
      break;
    case Optimizer::kAdafactor:
      bytes.optimizer = optimizer.master;  // row and column statistics only
      break;
    case Optimizer::kNone:
      bytes.optimizer = 0;
      bytes.gradients = 0;
      break;
  }
  return bytes;
}

void ExplainStateBytes(const TrainingContext& context, const StateBytes& state, Trace& trace) {
  if (!trace.on()) return;
  const TrainingRun& run = context.run;
  const bool narrow = NarrowRecipe(context), wide = BytesPerElement(run.precision) >= 4;
  const bool stated = StatedWeights(context).has_value();
  const std::string_view trained = wide     ? "training.precision"
                                   : stated ? "training.state.master_weights"
                                   : narrow ? "training.framework.memory.weights_fp8"
                                            : "training.framework.memory.weights";
  trace.Input("weight_bytes", state.weights, run.trainable == Trainable::kLora ? InputOfFrozenBytes(context) : trained);
  trace.Input("adapter_bytes", state.adapter_weights, trained);
  trace.Input("state_gradients", state.gradients,
              run.optimizer == Optimizer::kNone ? "training.optimizer"
              : run.state.gradients             ? "training.state.gradients"
              : stated                          ? "training.state.master_weights"
              : narrow                          ? "training.framework.memory.gradients_fp8"
                                                : "training.framework.memory.gradients");
  const auto [master_bytes, moment_bytes, master_input] = OptimizerBytesOf(context);
  const double moments = run.optimizer == Optimizer::kAdamW || run.optimizer == Optimizer::kAdam8Bit ? 2
                         : run.optimizer == Optimizer::kMuon || run.optimizer == Optimizer::kSgd     ? 1
                                                                                                     : 0;
  if (run.optimizer == Optimizer::kNone) return trace.Input("state_optimizer", state.optimizer, "training.optimizer");
  trace.Input("moments", moments, "training.optimizer");
  trace.Input("master_bytes", master_bytes, master_input);
  trace.Input("moment_bytes", moment_bytes,
              run.state.moments ? "training.state.moments"
              : stated          ? "training.state.master_weights"
                                : "training.optimizer");
  trace.Record("state_optimizer", "master_bytes + moments * moment_bytes", state.optimizer,
               Note{"Optimizer state per parameter", "master weights and the optimizer's moments"},
               "master_bytes, moments, moment_bytes", master_bytes, moments, moment_bytes);
}

}  // namespace slipstick
