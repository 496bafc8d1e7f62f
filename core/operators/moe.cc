#include "core/operators/moe.h"

#include <cassert>
#include <cmath>
#include <string>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {

// Operand precisions of the expert GEMMs; kEightByFour: 8-bit activations, 4-bit weights.
enum class Pairing { kSixteenBit, kFp8, kFp8Block, kFourBit, kEightByFour, kInt8, kInt8Weights, kInt4Weights };
ENUM_NAMES(Pairing, {kSixteenBit, "sixteen_bit"}, {kFp8, "fp8_tensor"}, {kFp8Block, "fp8_block"},
           {kFourBit, "four_bit_float"}, {kEightByFour, "eight_by_four"}, {kInt8, "int8"},
           {kInt8Weights, "int8_weights"}, {kInt4Weights, "int4_weights"});

namespace {

const std::optional<ExpertRow>& RowOf(const ExpertKernels& kernels, Pairing pairing) {
  switch (pairing) {
    case Pairing::kSixteenBit:
      break;
    case Pairing::kFp8:
      return kernels.fp8_tensor;
    case Pairing::kFp8Block:
      return kernels.fp8_block;
    case Pairing::kFourBit:
      return kernels.four_bit_float;
    case Pairing::kEightByFour:
      return kernels.eight_by_four;
    case Pairing::kInt8:
      return kernels.int8;
    case Pairing::kInt8Weights:
      return kernels.int8_weights;
    case Pairing::kInt4Weights:
      return kernels.int4_weights;
  }
  return kernels.sixteen_bit;
}

// The library's row; TensorRT-LLM's if it has none.
const ExpertRow& RowOf(const ExpertTable& table, Pairing pairing, ExpertLibrary library) {
  const std::optional<ExpertRow>& trtllm = RowOf(table.trtllm, pairing);
  assert(trtllm);
  if (library == ExpertLibrary::kTrtllm) return *trtllm;
  const std::optional<ExpertRow>& own = RowOf(table.flashinfer, pairing);
  return own ? *own : *trtllm;
}

// Grouped GEMM with the layer's precisions; the caller sets its shape.
Gemm ProductOf(const MoeLayer& layer) {
  Gemm product;
  product.groups = 2;  // any number above 1 selects the grouped kernels
  product.m = 64;
  product.precision = layer.precision;
  product.weights = layer.weights;
  product.scaling = layer.scaling;
  return product;
}

Pairing PairingOf(const MoeLayer& layer, const Device& device) {
  switch (KernelOf(ProductOf(layer), device)) {
    case GemmKernel::kSixteenBit:
      return Pairing::kSixteenBit;
    case GemmKernel::kFp8Tensor:
      return BytesPerElement(layer.weights) < 1 ? Pairing::kEightByFour : Pairing::kFp8;
    case GemmKernel::kFp8Block:
      return Pairing::kFp8Block;
    case GemmKernel::kFourBitFloat:
      return Pairing::kFourBit;
    case GemmKernel::kInt8:
      return Pairing::kInt8;
    case GemmKernel::kInt8Weights:
      return Pairing::kInt8Weights;
    case GemmKernel::kInt4Weights:
      return Pairing::kInt4Weights;
  }
  return Pairing::kSixteenBit;
}

// The library's table that RowOf takes the row from.
std::string PathOf(const MoeLayer& layer, Pairing pairing, const Device& device) {
  const bool is_own =
      layer.library == ExpertLibrary::kFlashInfer && RowOf(device.architecture->experts.flashinfer, pairing);
  return KernelTable(device, "experts") + (is_own ? ".flashinfer." : ".trtllm.") + std::string(NameOf(pairing));
}

constexpr Note kGroupedMatrix{"GEMM efficiency of the grouped kernels", "before the engine's share"};

}  // namespace

MoeKernelParameters IsolatedKernelParameters(const MoeLayer& layer, const Device& device, Trace& trace) {
  const ExpertTable& table = device.architecture->experts;
  const Pairing pairing = PairingOf(layer, device);
  const ExpertRow& row = RowOf(table, pairing, layer.library);
  const double matrix = row.gemm_efficiency, weight_stream = row.bandwidth_efficiency, move = row.permute_efficiency,
               kept = table.kept_l2, grouped_stream = table.bandwidth_gain,
               device_matrix = *device.efficiency.gemm_efficiency;
  const Seconds step_latency = row.step_latency, launch = row.launch, expert = row.expert;
  CONSTANTS(trace, PathOf(layer, pairing, device), SourceOf(device, table.source), matrix, weight_stream, move,
            step_latency, launch, expert);
  CONSTANTS(trace, KernelTable(device, "experts"), SourceOf(device, table.source), kept, grouped_stream);
  trace.Input("device_matrix", device_matrix, "cluster.device.efficiency.matrix");
  FIGURE(trace, grouped_matrix, min(1.0, matrix * device_matrix), kGroupedMatrix, matrix, device_matrix);
  MoeKernelParameters parameters;
  parameters.product = IsolatedKernelParameters(ProductOf(layer), device);
  parameters.product.launch = {};
  parameters.product.extra_launch = {};
  // hidden by the other rows of the group; the fitted efficiencies include the rest
  parameters.product.convert_per_clock = 0;
  parameters.product.gemm_efficiency = grouped_matrix;
  parameters.product.step_latency = step_latency;
  parameters.bandwidth_gain = grouped_stream;
  parameters.weight_bandwidth_gain = weight_stream;
  parameters.permute_efficiency = move;
  parameters.kept_l2 = kept;
  parameters.launch = launch;
  parameters.expert = expert;
  return parameters;
}

MoeKernelParameters ServingKernelParameters(const MoeLayer& layer, const Device& device, Trace& trace) {
  MoeKernelParameters parameters = IsolatedKernelParameters(layer, device, trace);
  const ExpertTable& table = device.architecture->experts;
  const std::string_view source = SourceOf(device, table.source);
  const Pairing pairing = PairingOf(layer, device);
  if (pairing == Pairing::kFourBit) {
    const double four_bit_matrix = table.serving.four_bit_gemm_efficiency,
                 four_bit_move = table.serving.four_bit_permute_efficiency,
                 device_matrix = *device.efficiency.gemm_efficiency;
    CONSTANTS(trace, KernelTable(device, "experts.serving"), source, four_bit_matrix, four_bit_move);
    FIGURE(trace, grouped_matrix, four_bit_matrix * device_matrix, kGroupedMatrix, four_bit_matrix, device_matrix);
    trace.Alias("move", four_bit_move, "four_bit_move");
    parameters.product.gemm_efficiency = grouped_matrix;
    parameters.permute_efficiency = four_bit_move;
  } else {
    MoeLayer scaled = layer;
    scaled.scaling = Scaling::kBlock;  // block scales travel with the tokens
    const Pairing carried = PairingOf(scaled, device);
    const double move = RowOf(table, carried, layer.library).permute_efficiency;
    CONSTANTS(trace, PathOf(layer, carried, device), source, move);
    parameters.permute_efficiency = move;
  }
  const double preference = table.serving.routing_preference;
  CONSTANTS(trace, KernelTable(device, "experts.serving"), source, preference);
  parameters.routing_preference = preference;
  if (pairing == Pairing::kFp8 || pairing == Pairing::kFp8Block || pairing == Pairing::kFourBit ||
      pairing == Pairing::kEightByFour) {
    const Seconds narrow_step = table.serving.narrow_step_latency;
    CONSTANTS(trace, KernelTable(device, "experts.serving"), source, narrow_step);
    trace.Alias("step_latency", narrow_step, "narrow_step");
    parameters.product.step_latency = narrow_step;
  }
  parameters.product.setting = GemmSetting::kServing;
  return parameters;
}

double ExpertsHit(const MoeLayer& layer, double rows, double preference) {
  Trace off = Trace::Off();
  return ExpertsHit(layer, rows, preference, off);
}

double ExpertsHit(const MoeLayer& layer, double rows, double preference, Trace& trace) {
  const double held_experts = layer.experts, ep = layer.ep, top_k = layer.top_k;
  FIGURE(trace, local_experts, held_experts / ep, (Note{"Experts on this device", ""}), held_experts, ep);
  if (layer.routing == Routing::kEven) return min(local_experts, max(1.0, std::round(rows)));
  FIGURE(trace, first_hit, min(min(local_experts, rows), max(1.0, top_k / ep)),
         (Note{"Experts that the first token hits", "of those on this device, each another"}), local_experts, rows,
         top_k, ep);
  if (preference == 0) {
    FIGURE(trace, experts_hit,
           first_hit + (local_experts - first_hit) * (1 - pow(1 - 1 / local_experts, rows - first_hit)),
           (Note{"Experts that get a row", "of those on this device, all equally likely", kFamilySource}), first_hit,
           local_experts, rows);
    return experts_hit;
  }
  // The rows of an expert are Poisson's, their mean varies over the experts as a Gamma distribution: negative binomial.
  FIGURE(trace, experts_hit,
         first_hit + (local_experts - first_hit) * (1 - pow(1 + pow(preference, 2) * (rows - first_hit) / local_experts,
                                                            -1 / pow(preference, 2))),
         (Note{"Experts that get a row", "of those on this device, of which the tokens of a step prefer some",
               kFamilySource}),
         first_hit, local_experts, preference, rows);
  return experts_hit;
}

namespace {

// Parameters of the grouped GEMMs, with what the engine's own kernels reach over the library's.
GemmKernelParameters ProductParameters(const MoeKernelParameters& parameters, double bandwidth_gain,
                                       const Device& device, Trace& trace) {
  const double grouped_matrix = parameters.product.gemm_efficiency, expert_matrix = parameters.engine_gemm_efficiency,
               device_matrix = *device.efficiency.gemm_efficiency,
               device_stream = *device.efficiency.bandwidth_efficiency,
               weight_stream = parameters.weight_bandwidth_gain;
  GemmKernelParameters product = parameters.product;
  product.gemm_efficiency = grouped_matrix * expert_matrix;
  product.bandwidth_efficiency = min(1.0, device_stream * bandwidth_gain * weight_stream);
  if (!trace.on()) return product;
  {
    FIGURE(trace, kernel_share, grouped_matrix * expert_matrix / device_matrix,
           (Note{"GEMM efficiency over that of a 16-bit GEMM", "of the grouped kernels, times the engine's"}),
           grouped_matrix, expert_matrix, device_matrix);
  }
  FIGURE(trace, kernel_share, min(1.0, device_stream * bandwidth_gain * weight_stream) / device_stream,
         (Note{"Bandwidth efficiency over that of a 16-bit GEMM", "of the weights of the grouped kernels"}),
         device_stream, bandwidth_gain, weight_stream);
  return product;
}

// Permute before the GEMMs and combine after them.
struct Permutation {
  Bytes bytes;
  Seconds time;
};
// Where each pass is a kernel: gate and up products are written and read, the activation written and read, the down
// product written and read; each bias reads and writes what it is added to.
Bytes PassedBytes(const MoeLayer& layer, double rows, const MoeKernelParameters& parameters, Trace& trace) {
  const double hidden = layer.hidden, width = layer.ffn / layer.tp, biases = parameters.has_biases ? 1 : 0;
  const Bytes pass_bytes = parameters.pass_bytes;
  trace.Input("biases", biases, "model.biases");
  FIGURE(trace, moved_bytes, rows * ((6 + 4 * biases) * width + (2 + 2 * biases) * hidden) * pass_bytes,
         (Note{"Bytes between the products",
               "gate, up, activation and down are written and read in turn, and read and written again for biases"}),
         rows, biases, width, hidden, pass_bytes);
  return moved_bytes;
}
Permutation Permute(const MoeLayer& layer, double rows, const MoeKernelParameters& parameters, double bandwidth_gain,
                    const Device& device, Trace& trace) {
  const double hidden = layer.hidden, held_tokens = layer.held_tokens.value_or(layer.tokens),
               device_stream = *device.efficiency.bandwidth_efficiency, move = parameters.permute_efficiency;
  const Bytes row_element = ElementSize(NativePrecision(device, layer.precision));
  if (parameters.pass_bytes > Bytes{}) {
    const Bytes moved_bytes = PassedBytes(layer, rows, parameters, trace);
    trace.Alias("bandwidth_efficiency", device_stream, "device_stream");
    trace.Alias("kept_l2", parameters.kept_l2, "kept");
    const Trace::Scope passes(trace, "move");
    trace.Alias("bytes", moved_bytes, "moved_bytes");
    trace.Alias("resident", moved_bytes, "moved_bytes");
    const double efficiency = 1;
    CONSTANTS(trace, "moe.passes", "a kernel each, which streams", efficiency);
    return {moved_bytes,
            PassTime(moved_bytes, moved_bytes, parameters.kept_l2, device_stream, efficiency, device, trace)};
  }
  FIGURE(trace, moved_bytes, rows * hidden * (4 * kB + row_element) + 4 * kB * held_tokens * hidden,
         (Note{"Bytes of permute and combine",
               "rows are read, written in the GEMM format and read back; input and output of the tokens on this device",
               kFamilySource}),
         rows, hidden, row_element, held_tokens);
  FIGURE(trace, move_stream, min(1.0, device_stream * bandwidth_gain),
         (Note{"Bandwidth efficiency of permute and combine", ""}), device_stream, bandwidth_gain);
  const Trace::Scope scope(trace, "move");
  trace.Alias("bytes", moved_bytes, "moved_bytes");
  trace.Alias("resident", moved_bytes, "moved_bytes");
  trace.Alias("kept_l2", parameters.kept_l2, "kept");
  trace.Alias("bandwidth_efficiency", move_stream, "move_stream");
  trace.Alias("efficiency", move, "move");
  return {moved_bytes, PassTime(moved_bytes, moved_bytes, parameters.kept_l2, move_stream, move, device, trace)};
}

// FLOPs, traffic and the times of the levels of all three; without the time itself.
KernelTime WorkOf(const KernelTime& up, const KernelTime& down, const Permutation& moved, Trace& trace) {
  KernelTime work;
  work.compute = up.compute + down.compute;
  work.memory = up.memory + down.memory + moved.time;
  const Flops up_flops = up.flops, down_flops = down.flops;
  FIGURE(trace, flops, up_flops + down_flops, (Note{"FLOPs", "of both grouped GEMMs"}), up_flops, down_flops);
  const Bytes up_bytes = up.bytes, down_bytes = down.bytes, moved_bytes = moved.bytes;
  FIGURE(trace, bytes, up_bytes + down_bytes + moved_bytes,
         (Note{"Memory traffic", "of both grouped GEMMs, permute and combine"}), up_bytes, down_bytes, moved_bytes);
  work.flops = flops;
  work.bytes = bytes;
  work.l2_bytes = up.l2_bytes + down.l2_bytes + moved.bytes;
  work.l1_bytes = up.l1_bytes + down.l1_bytes + moved.bytes;
  work.l2 = up.l2 + down.l2;
  work.l1 = up.l1 + down.l1;
  return work;
}

// A cache if it bounds the longer product, else what takes longer in the whole layer.
Bound BoundOfProducts(const KernelTime& up, const KernelTime& down, const KernelTime& layer) {
  const Bound longer = up.time >= down.time ? up.bound : down.bound;
  if (longer == Bound::kL2 || longer == Bound::kL1) return longer;
  return layer.compute >= layer.memory ? Bound::kCompute : Bound::kMemory;
}

}  // namespace

KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters, Trace& trace) {
  assert(device.efficiency.bandwidth_efficiency);
  const double group_tokens = layer.tokens, top_k = layer.top_k, ep = layer.ep, imbalance = layer.imbalance,
               hidden = layer.hidden;
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->experts.source));
  const double grouped_stream = parameters.bandwidth_gain, expert_stream = parameters.engine_bandwidth_efficiency;
  trace.Input("device_stream", *device.efficiency.bandwidth_efficiency, "cluster.device.efficiency.stream");
  FIGURE(trace, bandwidth_gain, grouped_stream * expert_stream,
         (Note{"Bandwidth efficiency of the experts' kernels", "over that of a 16-bit GEMM, times the engine's"}),
         grouped_stream, expert_stream);
  if (!layer.held_tokens) trace.Alias("held_tokens", group_tokens, "group_tokens");
  const Seconds launch = parameters.launch, expert = parameters.expert;
  FIGURE(trace, rows, max(1.0, group_tokens * top_k / ep * imbalance),
         (Note{"Rows on this device", "a token counts once per expert"}), group_tokens, top_k, ep, imbalance);
  const double experts_hit = ExpertsHit(layer, rows, parameters.routing_preference, trace);
  const GemmKernelParameters product_parameters = ProductParameters(parameters, bandwidth_gain, device, trace);
  FIGURE(trace, expert_rows, rows / experts_hit, (Note{"Rows of an expert", "mean of those that get any"}), rows,
         experts_hit);
  const double expert_ffn = layer.ffn, expert_tp = layer.tp;
  FIGURE(trace, width, expert_ffn / expert_tp, (Note{"Inner width of an expert on this device", ""}), expert_ffn,
         expert_tp);
  const double up_width = layer.gated ? 2 * width : width;
  if (layer.gated) {
    trace.Record("up_width", "2 * width", up_width, Note{"Outputs of gate and up projection", ""}, "width", width);
  } else {
    trace.Alias("up_width", up_width, "width");
  }
  const auto product = [&](std::string_view name, double outputs, std::string_view outputs_are, double inputs,
                           std::string_view inputs_are) {
    const Trace::Scope scope(trace, name);
    Gemm gemm = ProductOf(layer);
    gemm.groups = experts_hit;
    gemm.m = expert_rows;
    gemm.n = outputs;
    gemm.k = inputs;
    gemm.weights_in_l2 = layer.weights_in_l2;
    trace.Alias("groups", gemm.groups, "experts_hit");
    trace.Alias("m", gemm.m, "expert_rows");
    trace.Alias("n", gemm.n, outputs_are);
    trace.Alias("k", gemm.k, inputs_are);
    return TimeOf(gemm, device, product_parameters, trace);
  };
  const KernelTime up = product("gate_and_up", up_width, "up_width", hidden, "hidden");
  trace.Alias("up_time", up.time, "time");
  trace.Alias("up_flops", up.flops, "flops");
  trace.Alias("up_bytes", up.bytes, "bytes");
  const KernelTime down = product("down", hidden, "hidden", width, "width");
  trace.Alias("down_time", down.time, "time");
  trace.Alias("down_flops", down.flops, "flops");
  trace.Alias("down_bytes", down.bytes, "bytes");
  const Permutation moved = Permute(layer, rows, parameters, bandwidth_gain, device, trace);
  trace.Alias("move_time", moved.time, "pass_time");
  const Seconds up_time = up.time, down_time = down.time, move_time = moved.time;
  const double local_experts = layer.experts / ep;  // as ExpertsHit states it
  FIGURE(trace, time, launch + local_experts * expert + up_time + down_time + move_time,
         (Note{"MoE layer time", "routing and small kernels, two grouped GEMMs, permute and combine", kFamilySource,
               "time_s"}),
         launch, local_experts, expert, up_time, down_time, move_time);
  KernelTime result = WorkOf(up, down, moved, trace);
  result.time = time;
  result.bound = 2 * (launch + local_experts * expert) > time ? Bound::kLatency : BoundOfProducts(up, down, result);
  return result;
}

KernelTime TimeOf(const MoeLayer& layer, const Device& device, Trace& trace) {
  return TimeOf(layer, device, IsolatedKernelParameters(layer, device, trace), trace);
}

}  // namespace slipstick
