#include "core/base/field_table.h"
#include "core/mapping/parallelism.h"

namespace slipstick {

constexpr FieldRow kOverlapFields[] = {
    Of<&Overlap::tp>("tp",
                     "TP communication overlaps with GEMMs, in chunks; default: where the framework does so, with "
                     "sequence parallelism and FlashAttention, within a node or scale-up domain"),
    Of<&Overlap::dp>("dp", "Gradient reduction overlaps with the backward pass; default: the framework's"),
    Of<&Overlap::pp>("pp", "Pipeline sends overlap with compute; default: the framework's"),
    Of<&Overlap::ep>("ep", "Expert dispatch and combine overlap with compute")};
constinit const Fields Schema<Overlap>::fields(kOverlapFields);

constexpr FieldRow kTrainingMappingFields[] = {
    Of<&TrainingMapping::tp>("tp", "Tensor parallelism (TP)").Between(1, 1 << 20),
    Of<&TrainingMapping::sequence_parallel>(
        "sequence_parallel", "Sequence parallelism (SP): norms and residuals are split over the TP ranks"),
    Of<&TrainingMapping::cp>("cp", "Context parallelism (CP)").Between(1, 1 << 20),
    Of<&TrainingMapping::cp_kind>("cp_kind", "Context-parallel scheme: how ranks exchange keys and values").Advanced(),
    Of<&TrainingMapping::ep>("ep", "Expert parallelism (EP)").Between(1, 1 << 20),
    Of<&TrainingMapping::expert_tp>("expert_tp", "Expert tensor parallelism (ETP)").Between(1, 1 << 20).Advanced(),
    Of<&TrainingMapping::dispatch>("dispatch",
                                   "Dispatch and combine kernels of experts; leave empty for the framework's")
        .Advanced(),
    Of<&TrainingMapping::pp>("pp", "Pipeline parallelism (PP)").Between(1, 1 << 20),
    Of<&TrainingMapping::virtual_stages>("virtual_stages", "Virtual pipeline stages per device (interleaving)")
        .Label("Virtual pipeline stages")
        .Between(1, 4096),
    Of<&TrainingMapping::schedule>("schedule", "Pipeline schedule: order of forward and backward passes").Advanced(),
    Of<&TrainingMapping::dp>("dp", "Data parallelism (DP): devices / (TP · PP · CP); leave empty to derive it")
        .Between(1, 1 << 24)
        .Derived(),
    Of<&TrainingMapping::zero>("zero", "ZeRO stage: 1 shards the optimizer, 2 also gradients, 3 also weights (FSDP)")
        .Between(0, 3),
    Of<&TrainingMapping::shard_within>("shard_within",
                                       "Data-parallel ranks that ZeRO shards over; the others hold replicas")
        .Between(1, 1 << 24)
        .Advanced(),
    Of<&TrainingMapping::micro_batch>("micro_batch", "Micro-batch size: sequences per pass").Between(1, 1 << 20),
    Of<&TrainingMapping::order>("order", "Parallel groups from the innermost network level outward").Advanced(),
    Of<&TrainingMapping::overlap>("overlap", "Communication that overlaps with compute").Advanced()};
constinit const Fields Schema<TrainingMapping>::fields(kTrainingMappingFields);

constexpr FieldRow kServingOverlapFields[] = {
    Of<&ServingOverlap::ep>(
        "ep",
        "Two-batch overlap: half of the batch computes while the other half's tokens travel to and from their "
        "experts, where the engine's own exchange kernels run and it is faster; default: the engine's")
        .Label("Two-batch overlap")};
constinit const Fields Schema<ServingOverlap>::fields(kServingOverlapFields);

constexpr FieldRow kServingMappingFields[] = {
    Of<&ServingMapping::tp>("tp", "Tensor parallelism (TP) of attention")
        .Label("Tensor parallelism (TP)")
        .Between(1, 1 << 20),
    Of<&ServingMapping::cp>(
        "cp", "Decode context parallelism: as many of the TP ranks share KV heads and split each sequence's KV cache")
        .Label("Decode context parallelism")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&ServingMapping::pp>("pp", "Pipeline parallelism (PP)").Between(1, 1 << 20),
    Of<&ServingMapping::ep>("ep", "Expert parallelism (EP)").Between(1, 1 << 20),
    Of<&ServingMapping::attention_dp>("attention_dp", "DP attention: data parallelism of attention within a replica")
        .Between(1, 1 << 20),
    Of<&ServingMapping::prefill_cp>(
        "prefill_cp",
        "Prefill context parallelism: TP groups, each with all weights, that split a prompt's tokens and its KV cache")
        .Label("Prefill context parallelism")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&ServingMapping::replicas>(
        "replicas", "Replicas of the model: devices / (TP · PP · DP attention · prefill CP); leave empty to derive it")
        .Between(1, 1 << 24)
        .Derived(),
    Of<&ServingMapping::overlap>("overlap", "Communication that overlaps with compute").Advanced()};
constinit const Fields Schema<ServingMapping>::fields(kServingMappingFields);

}  // namespace slipstick
