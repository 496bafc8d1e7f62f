#include "core/base/field_table.h"
#include "core/serving/serving_load.h"

namespace slipstick {

constexpr FieldRow kServingPrecisionFields[] = {
    Of<&ServingPrecision::weights>("weights", "Format of the weights in memory"),
    Of<&ServingPrecision::activations>("activations", "Format of the matrix products' inputs"),
    Of<&ServingPrecision::kv_cache>("kv_cache", "Format of the cached keys and values"),
    Of<&ServingPrecision::state>("state", "Format of the state of layers with a recurrence").Advanced()};
constinit const Fields Schema<ServingPrecision>::fields(kServingPrecisionFields);

constexpr FieldRow kDisaggregatedFields[] = {
    Of<&Disaggregated::prefill_devices>("prefill_devices", "Devices that prefill only").Between(1, 1 << 24),
    Of<&Disaggregated::decode_devices>("decode_devices", "Devices that decode only").Between(1, 1 << 24),
    Of<&Disaggregated::prefill_device>(
        "prefill_device",
        "The prefill pool's accelerator; default the cluster's. Cost and energy count it as the cluster's, and it neither trains nor "
        "decodes: no figure uses its host, idle, die, fp16_accumulate, sustained_fall, rated_power, attention_forward, "
        "attention_backward, decode_stream, "
        "nor the link and network of its design")
        .Advanced(),
    Of<&Disaggregated::prefill_mapping>(
        "prefill_mapping", "How the prefill pool spreads the model; default as the decode pool. It decodes nothing: no figure uses its cp")
        .Advanced()};
constinit const Fields Schema<Disaggregated>::fields(kDisaggregatedFields);

constexpr FieldRow kSpeculativeFields[] = {
    Of<&Speculative::draft_tokens>("draft_tokens", "Tokens drafted a step").Between(1, 64),
    Of<&Speculative::acceptance>("acceptance", "Probability that a drafted token is kept").Between(0, 1),
    Of<&Speculative::draft_cost>("draft_cost", "Time of one drafted token over a decode step").Between(0, 10)};
constinit const Fields Schema<Speculative>::fields(kSpeculativeFields);

constexpr FieldRow kKvOffloadFields[] = {
    Of<&KvOffload::capacity>("capacity", "Host memory for the cache, a device").In(kGB).AtLeast(0),
    Of<&KvOffload::bandwidth>("bandwidth", "Link to the host, one direction, a device").In(kGBps).Above(0).AtMost(1'000'000)};
constinit const Fields Schema<KvOffload>::fields(kKvOffloadFields);

constexpr FieldRow kServingLoadFields[] = {
    Of<&ServingLoad::prompt>("prompt", "Tokens in").Length().Between(1, 1 << 28),
    Of<&ServingLoad::output>("output", "Tokens out").Length().Between(1, 1 << 28),
    Of<&ServingLoad::batch>("batch", "Sequences that one replica runs together, or max: as many as fit").Between(1, 1 << 24),
    Of<&ServingLoad::devices>("devices", "Devices used; default all of the cluster").Between(1, 1 << 24).Derived(),
    Of<&ServingLoad::concurrency>("concurrency", "Closed loop: requests always in flight").Between(1, 1 << 24).Advanced(),
    Of<&ServingLoad::requests_per_s>("requests_per_s", "Open loop: requests that arrive a second")
        .Above(0)
        .AtMost(1'000'000'000)
        .Advanced(),
    Of<&ServingLoad::max_requests>("max_requests", "The engine runs no more at once; null: memory decides").Between(1, 1 << 24).Advanced(),
    Of<&ServingLoad::waves>("waves", "Requests that each stream sends in a benchmark whose streams start together; null: steady state")
        .Between(1, 1 << 24)
        .Advanced(),
    Of<&ServingLoad::engine>("engine", "Costs a step and a layer, kernels, memory rule"),
    Of<&ServingLoad::cuda_graphs>("cuda_graphs", "Kernels launched as a graph; default the engine's").Advanced(),
    Of<&ServingLoad::precision>("precision", "Number formats"),
    Of<&ServingLoad::mapping>("mapping", "How the model is spread"),
    Of<&ServingLoad::redundant_experts>("redundant_experts", "Copies of busy experts (EPLB), beside the model's: ep divides both together")
        .Between(0, 1 << 16)
        .Advanced(),
    Of<&ServingLoad::prefill_chunk>("prefill_chunk", "Tokens of prefill that a step takes; default the engine's")
        .Length()
        .Between(1, 1 << 28)
        .Advanced(),
    Of<&ServingLoad::prefix_hit>("prefix_hit", "Share of the prompt found in the cache").Between(0, 1).Advanced(),
    Of<&ServingLoad::speculative>("speculative", "Draft tokens checked together").Advanced(),
    Of<&ServingLoad::disaggregated>("disaggregated", "Prefill and decode on pools of their own").Advanced(),
    Of<&ServingLoad::kv_offload>("kv_offload", "Cache beyond the devices' memory, in the host's").Advanced()};
constinit const Fields Schema<ServingLoad>::fields(kServingLoadFields);

}  // namespace slipstick
