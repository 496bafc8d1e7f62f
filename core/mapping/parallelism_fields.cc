#include "core/base/field_table.h"
#include "core/mapping/parallelism.h"

namespace slipstick {

constexpr FieldRow kOverlapFields[] = {Of<&Overlap::tp>("tp", "Tensor parallel exchange in chunks behind the matrix products"),
                                       Of<&Overlap::dp>("dp", "Gradient reduction behind the backward pass"),
                                       Of<&Overlap::pp>("pp", "Sends between pipeline stages behind compute"),
                                       Of<&Overlap::ep>("ep", "Expert dispatch and combine behind compute")};
constinit const Fields Schema<Overlap>::fields(kOverlapFields);

constexpr FieldRow kTrainingMappingFields[] = {
    Of<&TrainingMapping::tp>("tp", "Tensor parallel degree").Between(1, 1 << 20),
    Of<&TrainingMapping::sequence_parallel>("sequence_parallel", "Norms and residuals are split over the tensor-parallel ranks"),
    Of<&TrainingMapping::cp>("cp", "Context parallel degree").Between(1, 1 << 20),
    Of<&TrainingMapping::cp_kind>("cp_kind", "How context parallelism exchanges keys and values").Advanced(),
    Of<&TrainingMapping::ep>("ep", "Expert parallel degree").Between(1, 1 << 20),
    Of<&TrainingMapping::expert_tp>("expert_tp", "Tensor parallel degree of the experts").Between(1, 1 << 20).Advanced(),
    Of<&TrainingMapping::pp>("pp", "Pipeline parallel degree").Between(1, 1 << 20),
    Of<&TrainingMapping::virtual_stages>("virtual_stages", "Model chunks a device holds (interleaving)").Between(1, 4096),
    Of<&TrainingMapping::schedule>("schedule", "Order of forward and backward passes").Advanced(),
    Of<&TrainingMapping::dp>("dp", "Data parallel degree: what devices, tp, pp and cp leave").Between(1, 1 << 24).Derived(),
    Of<&TrainingMapping::zero>("zero", "ZeRO stage: 1 shards the optimizer, 2 gradients too, 3 weights too (FSDP)").Between(0, 3),
    Of<&TrainingMapping::shard_within>("shard_within", "Data-parallel ranks that ZeRO shards over; the rest replicate")
        .Between(1, 1 << 24)
        .Advanced(),
    Of<&TrainingMapping::micro_batch>("micro_batch", "Sequences in one pass").Between(1, 1 << 20),
    Of<&TrainingMapping::order>("order", "Groups from the innermost network level out").Advanced(),
    Of<&TrainingMapping::overlap>("overlap", "Which communication hides behind compute").Advanced()};
constinit const Fields Schema<TrainingMapping>::fields(kTrainingMappingFields);

constexpr FieldRow kServingMappingFields[] = {
    Of<&ServingMapping::tp>("tp", "Tensor parallel degree of attention").Between(1, 1 << 20),
    Of<&ServingMapping::cp>("cp", "Context parallel decode: of the tp ranks, so many share KV heads and split each sequence's cache")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&ServingMapping::pp>("pp", "Pipeline parallel degree").Between(1, 1 << 20),
    Of<&ServingMapping::ep>("ep", "Groups that a layer's experts lie on").Between(1, 1 << 20),
    Of<&ServingMapping::attention_dp>("attention_dp", "Data parallel attention inside one replica").Between(1, 1 << 20),
    Of<&ServingMapping::replicas>("replicas", "Copies of the model: what devices and the other degrees leave")
        .Between(1, 1 << 24)
        .Derived()};
constinit const Fields Schema<ServingMapping>::fields(kServingMappingFields);

}  // namespace slipstick
