// A training run: batch, tokens, number formats, optimizer, recomputation.
#pragma once

#include <optional>
#include <string>

#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/mapping/parallelism.h"
#include "core/software/framework.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class Optimizer { kAdamW, kAdafactor, kSgd, kAdam8Bit, kMuon, kNone };
ENUM_NAMES(Optimizer, {kAdamW, "adamw"}, {kAdafactor, "adafactor"}, {kSgd, "sgd"}, {kAdam8Bit, "adam8bit"},
           {kMuon, "muon"}, {kNone, "none"});

enum class Recompute { kNone, kSelective, kFull, kAuto };
ENUM_NAMES(Recompute, {kNone, "none"}, {kSelective, "selective"}, {kFull, "full"}, {kAuto, "auto"});

// Which layers full recomputation groups, in Megatron's terms. uniform: all layers, with one checkpoint per group of
// recompute_layers layers; block: only the first recompute_layers layers of each virtual stage, each by itself.
enum class RecomputeMethod { kUniform, kBlock };
ENUM_NAMES(RecomputeMethod, {kUniform, "uniform"}, {kBlock, "block"});

enum class Trainable { kAll, kLora };
ENUM_NAMES(Trainable, {kAll, "all"}, {kLora, "lora"});

// Storage of frozen weights. nf4: blocks of 64 with 8-bit scales, these with an fp32 scale per 256 (Dettmers et al.,
// QLoRA, 2023).
enum class FrozenPrecision { kBf16, kFp8, kInt8, kNf4 };
ENUM_NAMES(FrozenPrecision, {kBf16, "bf16"}, {kFp8, "fp8"}, {kInt8, "int8"}, {kNf4, "nf4"});

enum class StatePrecision { kFp32, kBf16, kFp16, kFp8, kInt8, kNone };
ENUM_NAMES(StatePrecision, {kFp32, "fp32"}, {kBf16, "bf16"}, {kFp16, "fp16"}, {kFp8, "fp8"}, {kInt8, "int8"},
           {kNone, "none"});

// Formats of gradients and optimizer state; absent: the framework's (fp32 under mixed precision).
struct TrainingState {
  std::optional<StatePrecision> gradients, master_weights, moments;
};
FIELDS_OF(TrainingState);

// The batch grows from `start` to global_batch over the first `tokens`, linearly with the tokens seen.
struct BatchRamp {
  Tally start = 16;  // sequences
  Tokens tokens = 10 * kGToken;
};
FIELDS_OF(BatchRamp);

// packed: a sequence holds several documents one after the other, and attention stays within each document. padded: one
// document per sequence.
enum class DocumentLayout { kPacked, kPadded };
ENUM_NAMES(DocumentLayout, {kPacked, "packed"}, {kPadded, "padded"});

// Documents shorter than a sequence.
struct Documents {
  Tally length = 512;   // tokens, mean
  Ratio variation = 1;  // standard deviation over the mean
  DocumentLayout layout = DocumentLayout::kPacked;
};
FIELDS_OF(Documents);

// Interruptions and recovery.
struct Interruptions {
  Seconds device_mtbf;
  Seconds restart;
  BytesPerSecond storage_bandwidth;
  std::optional<Seconds> checkpoint_interval;
  bool asynchronous_checkpoints = false;
};
FIELDS_OF(Interruptions);

// Shares kept in host memory and transferred over the host link when needed: activations between a layer's forward and
// backward passes, optimizer state around the update, gradients after every backward pass, weights for every pass.
struct Offload {
  Ratio activations = 0, optimizer = 0;
  std::optional<Ratio> gradients = std::nullopt;  // default: the framework's, all that the optimizer offloads or none
  Ratio parameters = 0;
};
FIELDS_OF(Offload);

struct TrainingRun {
  Tally sequence = 8192;
  std::optional<Documents> documents;  // absent: every document fills a sequence
  Tally global_batch = 512;            // sequences
  Tokens tokens = 15 * kTToken;
  std::optional<Ratio> tokens_per_parameter;  // replaces `tokens` if given
  std::optional<BatchRamp> batch_ramp;
  Interruptions interruptions;
  Precision precision = Precision::kBf16;
  Optimizer optimizer = Optimizer::kAdamW;
  TrainingState state;
  Recompute recompute = Recompute::kNone;
  RecomputeMethod recompute_method = RecomputeMethod::kUniform;
  Tally recompute_layers = 1;
  std::optional<Ratio> memory_margin;  // share of device memory that automatic choices leave free; absent: none
  Offload offload;
  bool flash_attention = true;
  bool loss_in_place = false;  // the gradient of the logits overwrites them
  Tally loss_chunks = 1;       // parts of the tokens whose LM head and loss run one after another, forward and backward
  // Trained modules of multi-token prediction. Default: the model's, if the framework trains any and no adapters are
  // trained in place of the weights.
  std::optional<Tally> mtp_modules;
  Trainable trainable = Trainable::kAll;
  std::optional<FrozenPrecision> frozen_precision;  // default: the GEMMs' format
  Framework framework;
  std::optional<Tally> devices;  // default: all of the cluster
  TrainingMapping mapping;
};
template <>
struct Schema<TrainingRun> {
  static constexpr std::string_view standard = "training";
  static const Fields fields;
};

}  // namespace slipstick
