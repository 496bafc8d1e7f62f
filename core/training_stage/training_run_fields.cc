#include "core/base/field_table.h"
#include "core/training_stage/training_run.h"

namespace slipstick {

constexpr FieldRow kTrainingStateFields[] = {
    Of<&TrainingState::gradients>("gradients", "Format of the accumulated gradients"),
    Of<&TrainingState::master_weights>("master_weights", "Format of the master weights"),
    Of<&TrainingState::moments>("moments", "Format of the optimizer's moments")};
constinit const Fields Schema<TrainingState>::fields(kTrainingStateFields);

constexpr FieldRow kBatchRampFields[] = {
    Of<&BatchRamp::start>("start", "Sequences per step at the start").Between(1, 1 << 30),
    Of<&BatchRamp::tokens>("tokens", "Tokens over which the batch grows to its full size")
        .In(kGToken)
        .Above(0)
        .AtMost(1'000'000'000)};
constinit const Fields Schema<BatchRamp>::fields(kBatchRampFields);

constexpr FieldRow kDocumentsFields[] = {
    Of<&Documents::length>("length", "Mean document length").Label("Mean document length").Length().Between(1, 1 << 28),
    Of<&Documents::variation>("variation", "Spread of the document lengths: standard deviation over the mean")
        .Label("Spread of document lengths")
        .Between(0, 8),
    Of<&Documents::layout>("layout",
                           "How documents fill sequences: packed, one behind another, with attention within each; "
                           "padded, one per sequence")
        .Label("Documents in a sequence")};
constinit const Fields Schema<Documents>::fields(kDocumentsFields);

constexpr FieldRow kInterruptionsFields[] = {
    Of<&Interruptions::device_mtbf>(
        "device_mtbf", "Mean time between interruptions caused by one device, with its share of host and network")
        .In(kDay)
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&Interruptions::restart>("restart", "Time from an interruption until the job loads its checkpoint")
        .In(kS)
        .Between(0, 10'000'000),
    Of<&Interruptions::storage_bandwidth>("storage_bandwidth", "Checkpoint-storage bandwidth per device")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&Interruptions::checkpoint_interval>("checkpoint_interval",
                                            "Training time between checkpoints; default: Daly's optimum")
        .In(kS)
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&Interruptions::asynchronous_checkpoints>(
        "asynchronous_checkpoints",
        "Training waits only for the copy to host memory; storage is written in the background")};
constinit const Fields Schema<Interruptions>::fields(kInterruptionsFields);

constexpr FieldRow kOffloadFields[] = {
    Of<&Offload::activations>("activations", "Share of the layer activations").Between(0, 1),
    Of<&Offload::optimizer>("optimizer", "Share of the optimizer state").Between(0, 1),
    Of<&Offload::gradients>("gradients", "Share of the gradients; default: the framework's").Between(0, 1),
    Of<&Offload::parameters>("parameters", "Share of the weights, fetched for every pass").Between(0, 1)};
constinit const Fields Schema<Offload>::fields(kOffloadFields);

constexpr FieldRow kTrainingRunFields[] = {
    Of<&TrainingRun::sequence>("sequence", "Sequence length").Length().Between(1, 1 << 28),
    Of<&TrainingRun::documents>("documents", "Documents shorter than a sequence; null: each is as long as a sequence")
        .Label("Shorter documents")
        .Advanced(),
    Of<&TrainingRun::global_batch>("global_batch", "Global batch: sequences per step")
        .Label("Global batch size")
        .Between(1, 1 << 30),
    Of<&TrainingRun::tokens>("tokens", "Training tokens").In(kGToken).Above(0).AtMost(1'000'000'000),
    Of<&TrainingRun::tokens_per_parameter>(
        "tokens_per_parameter",
        "Training tokens per parameter, replaces tokens; 20 is compute-optimal (Hoffmann et al. 2022)")
        .Above(0)
        .AtMost(1'000'000'000)
        .Advanced(),
    Of<&TrainingRun::batch_ramp>("batch_ramp", "Batch-size ramp over the first tokens; null: off").Advanced(),
    Of<&TrainingRun::interruptions>("interruptions", "Failures, restarts and checkpoints").Advanced(),
    Of<&TrainingRun::precision>("precision", "Format of the GEMMs").Label("Precision"),
    Of<&TrainingRun::optimizer>("optimizer", "Optimizer").Advanced(),
    Of<&TrainingRun::state>("state", "Formats of gradients and optimizer state").Advanced(),
    Of<&TrainingRun::recompute>("recompute", "Activation recomputation; auto: the least that fits")
        .Label("Activation recomputation"),
    Of<&TrainingRun::recompute_method>(
        "recompute_method",
        "Full recomputation: uniform, all layers in groups with one checkpoint each; block, the first layers "
        "of each virtual stage, one by one (Megatron: --recompute-method)")
        .Label("Recomputation method")
        .Advanced(),
    Of<&TrainingRun::recompute_layers>(
        "recompute_layers",
        "Full recomputation: layers per group (uniform), or layers recomputed per virtual stage (block) "
        "(Megatron: --recompute-num-layers)")
        .Label("Recomputed layers")
        .Between(1, 1024)
        .Advanced(),
    Of<&TrainingRun::memory_margin>("memory_margin",
                                    "Share of the memory that automatic choices (mapping, recomputation) leave free; "
                                    "empty: the margin of the memory's interval if the mapping is automatic")
        .Label("Memory margin")
        .Between(0, 0.9)
        .Advanced(),
    Of<&TrainingRun::offload>("offload", "Offload to host memory").Advanced(),
    Of<&TrainingRun::flash_attention>("flash_attention", "Fused attention: scores never reach memory")
        .Label("FlashAttention")
        .Advanced(),
    Of<&TrainingRun::loss_in_place>(
        "loss_in_place",
        "Loss kernels overwrite the logits with their gradient (Megatron-Core: --cross-entropy-fusion-impl te), or the "
        "fp32 copy that models of transformers pass to Liger's cross-entropy; off: the framework's default")
        .Label("Loss in place")
        .Advanced(),
    Of<&TrainingRun::loss_chunks>(
        "loss_chunks",
        "Number of chunks of tokens for which LM head and loss run in turn, so that only one chunk's logits are in "
        "memory (torchtune and torchtitan: 8; Liger: fused linear cross-entropy); 1: all at once")
        .Label("Loss in chunks")
        .Between(1, 65536)
        .Advanced(),
    Of<&TrainingRun::mtp_modules>("mtp_modules",
                                  "Trained multi-token-prediction (MTP) modules; empty: all of the model's if the "
                                  "framework trains them; none with LoRA")
        .Label("Trained MTP modules")
        .Between(0, 64)
        .Advanced(),
    Of<&TrainingRun::trainable>("trainable", "Trained weights: all, or low-rank adapters beside frozen weights (LoRA)")
        .Advanced(),
    Of<&TrainingRun::frozen_precision>(
        "frozen_precision",
        "Storage of the frozen weights of the layers beside adapters (nf4: QLoRA), unpacked for every GEMM; "
        "default: the format of the GEMMs")
        .Label("Storage of frozen weights")
        .Advanced(),
    Of<&TrainingRun::framework>("framework",
                                "Training framework: overlap, fusion, launches, memory; roofline: a plain roofline, "
                                "same utilizations for all kernels")
        .Label("Framework"),
    Of<&TrainingRun::devices>("devices", "Devices used; default: all of the cluster")
        .Label("Devices that train")
        .Between(1, 1 << 24)
        .Derived()
        .Advanced(),
    Of<&TrainingRun::mapping>("mapping", "Parallelism")};
constinit const Fields Schema<TrainingRun>::fields(kTrainingRunFields);

}  // namespace slipstick
