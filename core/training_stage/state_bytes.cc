#include "core/training_stage/state_bytes.h"

#include <optional>

#include "core/base/figure.h"
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

// The format of the weights that the optimizer updates, if the run states it and the framework keeps no other weights.
std::optional<Ratio> StatedWeights(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  if (!context.framework().memory.weights_are_master || BytesPerElement(run.precision) >= 4 ||
      !run.state.master_weights)
    return {};
  return *run.state.master_weights == StatePrecision::kNone ? 2 : BytesOf(*run.state.master_weights);
}

struct OptimizerBytes {
  Ratio master, moment;
};
OptimizerBytes OptimizerBytesOf(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  const bool wide = BytesPerElement(run.precision) >= 4,
             has_master = !context.framework().memory.weights_are_master && !wide;
  // PyTorch's optimizers keep their state in the format of the weights.
  const Ratio own_moment =
      run.optimizer == Optimizer::kAdam8Bit ? Ratio(kByteWithScale) : StatedWeights(context).value_or(4);
  const Ratio moment = run.state.moments ? Ratio(BytesOf(*run.state.moments)) : own_moment;
  if (StatedWeights(context)) return {0, moment};
  if (run.state.master_weights) return {BytesOf(*run.state.master_weights), moment};
  if (has_master && NarrowRecipe(context)) return {context.framework().optimizer.master_weights_fp8, moment};
  return {has_master ? BytesOf(StatePrecision::kFp32) : 0, moment};
}

}  // namespace

bool NarrowRecipe(const TrainingContext& context) {
  return BytesPerElement(NativePrecision(context.device(), context.run.precision)) < 2;
}

Ratio FrozenBytes(const TrainingContext& context) {
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
  const std::optional<Ratio> stated = StatedWeights(context);
  bytes.weights = bytes.adapter_weights = wide     ? Ratio(4)
                                          : stated ? *stated
                                          : narrow ? framework.weights_fp8
                                                   : framework.weights;
  // Frozen weights are never updated, so the GEMMs' format is enough.
  if (run.trainable == Trainable::kLora) bytes.weights = FrozenBytes(context);
  bytes.gradients = run.state.gradients ? Ratio(BytesOf(*run.state.gradients))
                    : stated            ? *stated
                    : narrow            ? framework.gradients_fp8
                                        : framework.gradients;
  const OptimizerBytes optimizer = OptimizerBytesOf(context);
  if (run.framework.offload.keeps_master_weights && run.optimizer != Optimizer::kNone)
    bytes.kept_master = optimizer.master;
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
  if (bytes.optimizer.node() == nullptr) bytes.optimizer = InputAt("training.optimizer", bytes.optimizer, context.tape);
  bytes.optimizer =
      Figure("Optimizer state per parameter", bytes.optimizer, "in bytes: master weights and the optimizer's moments");
  return bytes;
}

}  // namespace slipstick
