#include "core/base/field_table.h"
#include "core/training/training_run.h"

namespace slipstick {

constexpr FieldRow kTrainingStateFields[] = {
    Of<&TrainingState::gradients>("gradients", "Format of the accumulated gradients"),
    Of<&TrainingState::master_weights>("master_weights", "Format of the optimizer's copy of the weights"),
    Of<&TrainingState::moments>("moments", "Format of the optimizer's moments")};
constinit const Fields Schema<TrainingState>::fields(kTrainingStateFields);

constexpr FieldRow kBatchRampFields[] = {
    Of<&BatchRamp::start>("start", "Sequences in the first steps").Between(1, 1 << 30),
    Of<&BatchRamp::tokens>("tokens", "Tokens over which the batch grows to its full size").In(kGToken).Above(0).AtMost(1'000'000'000)};
constinit const Fields Schema<BatchRamp>::fields(kBatchRampFields);

constexpr FieldRow kInterruptionsFields[] = {
    Of<&Interruptions::device_mtbf>("device_mtbf",
                                    "Mean time between interruptions that one device causes, its share of host and network included")
        .In(kDay)
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&Interruptions::restart>("restart", "From an interruption until the job loads its checkpoint").In(kS).Between(0, 10'000'000),
    Of<&Interruptions::storage_bandwidth>("storage_bandwidth", "Of the checkpoint store, a device").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&Interruptions::checkpoint_interval>("checkpoint_interval", "Training between checkpoints; default the best one (Daly)")
        .In(kS)
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&Interruptions::asynchronous_checkpoints>("asynchronous_checkpoints",
                                                 "Training waits for the copy to host memory only; the store is written behind it")};
constinit const Fields Schema<Interruptions>::fields(kInterruptionsFields);

constexpr FieldRow kOffloadFields[] = {Of<&Offload::activations>("activations", "Share of the layers' activations").Between(0, 1),
                                       Of<&Offload::optimizer>("optimizer", "Share of the optimizer state").Between(0, 1)};
constinit const Fields Schema<Offload>::fields(kOffloadFields);

constexpr FieldRow kTrainingRunFields[] = {
    Of<&TrainingRun::sequence>("sequence", "Tokens in a sequence").Length().Between(1, 1 << 28),
    Of<&TrainingRun::global_batch>("global_batch", "Sequences in a step").Between(1, 1 << 30),
    Of<&TrainingRun::tokens>("tokens", "Length of the whole run").In(kGToken).Above(0).AtMost(1'000'000'000),
    Of<&TrainingRun::tokens_per_parameter>(
        "tokens_per_parameter", "Length of the run by the model's size, in place of tokens; 20 is compute-optimal (Hoffmann et al. 2022)")
        .Above(0)
        .AtMost(1'000'000'000)
        .Advanced(),
    Of<&TrainingRun::batch_ramp>("batch_ramp", "The batch grows over the first tokens; null: full from the start").Advanced(),
    Of<&TrainingRun::interruptions>("interruptions", "Failures, restarts and checkpoints").Advanced(),
    Of<&TrainingRun::precision>("precision", "Format of the matrix products"),
    Of<&TrainingRun::optimizer>("optimizer", "How the weights are updated").Advanced(),
    Of<&TrainingRun::state>("state", "Formats of what the optimizer keeps").Advanced(),
    Of<&TrainingRun::recompute>("recompute", "Activations computed again in the backward pass; auto: the least that fits"),
    Of<&TrainingRun::offload>("offload", "What lies in the host's memory").Advanced(),
    Of<&TrainingRun::flash_attention>("flash_attention", "Fused attention: scores never reach memory").Advanced(),
    Of<&TrainingRun::trainable>("trainable", "All weights, or low-rank adapters beside frozen ones").Advanced(),
    Of<&TrainingRun::framework>("framework", "How the software overlaps, fuses, launches and keeps memory"),
    Of<&TrainingRun::devices>("devices", "Devices used; default all of the cluster").Between(1, 1 << 24).Derived().Advanced(),
    Of<&TrainingRun::mapping>("mapping", "How the work is spread")};
constinit const Fields Schema<TrainingRun>::fields(kTrainingRunFields);

}  // namespace slipstick
