// The operators of the kernel command: read through the field table of their kind, then timed alone.
#include <optional>

#include "core/base/field_table.h"
#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/evaluation/kernel.h"
#include "core/operators/attention.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/operators/rowwise.h"
#include "core/scenario/designed_device.h"
#include "core/software/engine.h"

namespace slipstick {

enum class OperatorKind { kGemm, kAttention, kMla, kMoe, kNorm, kSoftmax, kGelu, kRope, kAdd };
ENUM_NAMES(OperatorKind, {kGemm, "gemm"}, {kAttention, "attention"}, {kMla, "mla"}, {kMoe, "moe"}, {kNorm, "norm"},
           {kSoftmax, "softmax"}, {kGelu, "gelu"}, {kRope, "rope"}, {kAdd, "add"});

namespace {

constexpr double kMaxCount = 1e12;  // upper bound of every count

struct GemmLine {
  OperatorKind kind{};
  Count m = 1, n = 1, k = 1, groups = 1;
  Precision precision = Precision::kBf16;
  std::optional<Precision> weights_precision;
  Scaling scaling = Scaling::kTensor;
  bool quantise = false;
};
struct AttentionLine {
  OperatorKind kind{};
  AttentionPhase phase = AttentionPhase::kPrefill;
  Count batch = 1;
  std::optional<Count> q_len, kv_len, kv_heads;
  Count heads = 32, head_dim = 128;
  bool causal = true;
  Precision precision = Precision::kBf16;
  std::optional<Precision> kv_precision;
  AttentionAlgorithm algorithm = AttentionAlgorithm::kAuto;
  std::optional<Engine> engine;
};
struct MlaLine {
  OperatorKind kind{};
  AttentionPhase phase = AttentionPhase::kPrefill;
  Count batch = 1;
  std::optional<Count> q_len, kv_len;
  Count heads = 128, kv_lora_rank = 512, rope_head_dim = 64, nope_head_dim = 128, value_head_dim = 128;
  Precision precision = Precision::kBf16;
  std::optional<Precision> kv_precision;
  std::optional<Engine> engine;
};
struct MoeLine {
  OperatorKind kind{};
  Count tokens = 1, experts = 8, top_k = 2, hidden = 4096, ffn = 14336, tp = 1, ep = 1;
  Precision precision = Precision::kBf16;
  std::optional<Precision> weights_precision;
  Scaling scaling = Scaling::kTensor;
  double imbalance = 1;
  Routing routing = Routing::kRandom;
  std::optional<Engine> engine;
};
struct RowLine {
  RowKind kind{};
  Count rows = 1, columns = 1;
  Precision precision = Precision::kBf16;
  bool gated = false;
};

}  // namespace

template <>
struct Schema<GemmLine> {
  static constexpr FieldRow kRows[] = {
      Of<&GemmLine::kind>("kind", "Operator").Required(),
      Of<&GemmLine::m>("m", "Rows per group").Between(1, kMaxCount).Required(),
      Of<&GemmLine::n>("n", "Output columns").Between(1, kMaxCount).Required(),
      Of<&GemmLine::k>("k", "Inner dimension").Between(1, kMaxCount).Required(),
      Of<&GemmLine::groups>("groups", "Equal GEMMs in one kernel").Between(1, kMaxCount),
      Of<&GemmLine::precision>("precision", "Precision of arithmetic and activations"),
      Of<&GemmLine::weights_precision>("weights_precision", "Precision of the weights; default: as the arithmetic"),
      Of<&GemmLine::scaling>("scaling", "fp8 scaling: per tensor or per 128x128 block"),
      Of<&GemmLine::quantise>("quantise", "Include quantization of the activations")};
  static constexpr Fields fields{kRows};
};
template <>
struct Schema<AttentionLine> {
  static constexpr FieldRow kRows[] = {
      Of<&AttentionLine::kind>("kind", "Operator").Required(),
      Of<&AttentionLine::phase>("phase", "Prefill, decode, backward, or both passes"),
      Of<&AttentionLine::batch>("batch", "Sequences").Between(1, kMaxCount),
      Of<&AttentionLine::q_len>("q_len", "Query length (tokens)").Between(1, kMaxCount),
      Of<&AttentionLine::kv_len>("kv_len", "KV length (tokens), cached tokens included").Between(1, kMaxCount),
      Of<&AttentionLine::heads>("heads", "Query heads").Between(1, kMaxCount),
      Of<&AttentionLine::kv_heads>("kv_heads", "KV heads; default: as the query heads").Between(1, kMaxCount),
      Of<&AttentionLine::head_dim>("head_dim", "Head dimension").Between(1, 65536),
      Of<&AttentionLine::causal>("causal", "Causal mask"),
      Of<&AttentionLine::precision>("precision", "Precision of queries, keys and values"),
      Of<&AttentionLine::kv_precision>("kv_precision", "KV-cache precision; default: as the precision"),
      Of<&AttentionLine::algorithm>("algorithm", "Kernel library"),
      Of<&AttentionLine::engine>("engine", "Serving engine whose kernels are used")};
  static constexpr Fields fields{kRows};
};
template <>
struct Schema<MlaLine> {
  static constexpr FieldRow kRows[] = {
      Of<&MlaLine::kind>("kind", "Operator").Required(),
      Of<&MlaLine::phase>("phase", "Prefill or decode"),
      Of<&MlaLine::batch>("batch", "Sequences").Between(1, kMaxCount),
      Of<&MlaLine::q_len>("q_len", "Query length (tokens)").Between(1, kMaxCount),
      Of<&MlaLine::kv_len>("kv_len", "KV length (tokens), cached tokens included").Between(1, kMaxCount),
      Of<&MlaLine::heads>("heads", "Query heads").Between(1, kMaxCount),
      Of<&MlaLine::kv_lora_rank>("kv_lora_rank", "Latent (KV LoRA) rank").Between(1, 65536),
      Of<&MlaLine::rope_head_dim>("rope_head_dim", "Rotary part of the head dimension").Between(0, 65536),
      Of<&MlaLine::nope_head_dim>("nope_head_dim", "Non-rotary part of the head dimension").Between(1, 65536),
      Of<&MlaLine::value_head_dim>("value_head_dim", "Value head dimension").Between(1, 65536),
      Of<&MlaLine::precision>("precision", "Precision of queries, keys and values"),
      Of<&MlaLine::kv_precision>("kv_precision", "KV-cache precision; default: as the precision"),
      Of<&MlaLine::engine>("engine", "Serving engine whose kernels are used")};
  static constexpr Fields fields{kRows};
};
template <>
struct Schema<MoeLine> {
  static constexpr FieldRow kRows[] = {
      Of<&MoeLine::kind>("kind", "Operator").Required(),
      Of<&MoeLine::tokens>("tokens", "Tokens of the whole TP x EP group").Between(1, kMaxCount).Required(),
      Of<&MoeLine::experts>("experts", "Experts per layer").Between(1, 65536).Required(),
      Of<&MoeLine::top_k>("top_k", "Experts per token (top-k)").Between(1, 65536).Required(),
      Of<&MoeLine::hidden>("hidden", "Hidden size").Between(1, kMaxCount).Required(),
      Of<&MoeLine::ffn>("ffn", "FFN size of one expert").Between(1, kMaxCount).Required(),
      Of<&MoeLine::tp>("tp", "Tensor parallelism of an expert").Between(1, 65536),
      Of<&MoeLine::ep>("ep", "Expert parallelism").Between(1, 65536),
      Of<&MoeLine::precision>("precision", "Precision of arithmetic and activations"),
      Of<&MoeLine::weights_precision>("weights_precision", "Precision of the weights; default: as the arithmetic"),
      Of<&MoeLine::scaling>("scaling", "fp8 scaling: per tensor or per 128x128 block"),
      Of<&MoeLine::imbalance>("imbalance", "Rows on this device relative to the mean").Between(1, 65536),
      Of<&MoeLine::routing>("routing", "Expert routing: random (serving) or even (benchmarks)"),
      Of<&MoeLine::engine>("engine", "Serving engine whose kernels are used")};
  static constexpr Fields fields{kRows};
};
template <>
struct Schema<RowLine> {
  static constexpr FieldRow kRows[] = {
      Of<&RowLine::kind>("kind", "Operator").Required(),
      Of<&RowLine::rows>("rows", "Rows").Between(1, kMaxCount).Required(),
      Of<&RowLine::columns>("columns", "Output columns").Between(1, kMaxCount).Required(),
      Of<&RowLine::precision>("precision", "Element precision"),
      Of<&RowLine::gated>("gated", "Gated activation: reads two columns per output column")};
  static constexpr Fields fields{kRows};
};

namespace {

double D(Count count) { return static_cast<double>(count); }

// The formats of a product; the weights' default is that of the arithmetic.
template <class Line>
void SetFormats(const Line& line, Gemm& gemm) {
  gemm.precision = line.precision;
  gemm.weights = line.weights_precision.value_or(line.precision);
  gemm.scaling = line.scaling;
}

KernelTime TimeLine(const GemmLine& line, const Device& device, Issues&) {
  Gemm gemm;
  gemm.m = D(line.m), gemm.n = D(line.n), gemm.k = D(line.k), gemm.groups = D(line.groups);
  SetFormats(line, gemm);
  gemm.quantize = line.quantise;
  // The published times of integer formats were taken with cold weights.
  const GemmKernel kernel = KernelOf(gemm, device);
  const bool repeated =
      kernel != GemmKernel::kInt8 && kernel != GemmKernel::kInt8Weights && kernel != GemmKernel::kInt4Weights;
  const Bytes weights = gemm.groups * gemm.n * gemm.k * ElementSize(gemm.weights);
  if (repeated) gemm.weights_in_l2 = WeightsLeftInL2(weights, 5, device);
  return TimeOf(gemm, device);
}

// What attention and latent attention share. If one length is absent, the other one stands for both; the default query
// length of decode is one token.
template <class Line, class Core>
void SetCore(const Line& line, Core& core, Issues& issues) {
  core.phase = line.phase;
  core.batch = D(line.batch), core.heads = D(line.heads);
  core.precision = line.precision;
  core.kv_precision = line.kv_precision.value_or(line.precision);
  if (line.engine) core.library = line.engine->kernels.attention;
  if (!line.kv_len && !line.q_len) {
    issues.push_back({"operator.kv_len", "Required: KV length, cached tokens included"});
    return;
  }
  const Count kv_len = line.kv_len ? *line.kv_len : *line.q_len;
  const Count q_len = line.q_len.value_or(line.phase == AttentionPhase::kDecode ? 1 : kv_len);
  core.q_len = D(q_len), core.kv_len = D(kv_len);
  if (kv_len < q_len) {
    issues.push_back({"operator.kv_len",
                      "Must be at least q_len (" + NumberText(core.q_len) + ")",
                      {SetTo("operator.kv_len", q_len)}});
  }
}

void CheckAtMost(const std::string& member, Count value, const std::string& of, Count most, Issues& issues) {
  if (value <= most) return;
  const std::string path = "operator." + member;
  issues.push_back({path, "Must be at most " + of + " (" + std::to_string(most) + ")", {SetTo(path, most)}});
}

KernelTime TimeLine(const AttentionLine& line, const Device& device, Issues& issues) {
  Attention attention;
  SetCore(line, attention, issues);
  if (!issues.empty()) return {};
  attention.kv_heads = D(line.kv_heads.value_or(line.heads));
  CheckAtMost("kv_heads", line.kv_heads.value_or(line.heads), "heads", line.heads, issues);
  attention.head_dim = D(line.head_dim);
  attention.causal = line.causal;
  attention.algorithm = line.algorithm;
  return TimeOf(attention, device);
}

KernelTime TimeLine(const MlaLine& line, const Device& device, Issues& issues) {
  if (line.phase != AttentionPhase::kPrefill && line.phase != AttentionPhase::kDecode) {
    issues.push_back({"operator.phase",
                      "MLA takes prefill or decode, not " + std::string(NameOf(line.phase)),
                      {SetTo("operator.phase", "prefill"), SetTo("operator.phase", "decode")}});
    return {};
  }
  LatentAttention mla;
  SetCore(line, mla, issues);
  if (!issues.empty()) return {};
  mla.kv_lora_rank = D(line.kv_lora_rank), mla.rope_head_dim = D(line.rope_head_dim);
  mla.nope_head_dim = D(line.nope_head_dim), mla.value_head_dim = D(line.value_head_dim);
  return TimeOf(mla, device);
}

KernelTime TimeLine(const MoeLine& line, const Device& device, Issues& issues) {
  CheckAtMost("ep", line.ep, "experts", line.experts, issues);
  CheckAtMost("top_k", line.top_k, "experts", line.experts, issues);
  if (!issues.empty()) return {};
  MoeLayer layer;
  layer.tokens = D(line.tokens), layer.experts = D(line.experts), layer.top_k = D(line.top_k);
  layer.hidden = D(line.hidden), layer.ffn = D(line.ffn), layer.tp = D(line.tp), layer.ep = D(line.ep);
  SetFormats(line, layer.product);
  layer.imbalance = line.imbalance;
  layer.routing = line.routing;
  if (line.engine) layer.library = line.engine->kernels.expert_library;
  // The benchmark repeats one layer, so weights that fit in the L2 stay there.
  const double rows = layer.tokens * layer.top_k / layer.ep * layer.imbalance;
  const Bytes weights = 3 * ExpertsHit(layer, max(1.0, rows), 0) * layer.hidden * layer.ffn / layer.tp *
                        ElementSize(layer.product.weights);
  layer.product.weights_in_l2 = WeightsLeftInL2(weights, 1, device);
  return TimeOf(layer, device);
}

KernelTime TimeLine(const RowLine& line, const Device& device, Issues&) {
  return TimeOf(RowKernel{line.kind, D(line.rows), D(line.columns), line.precision, line.gated}, device);
}

// The device efficiencies that this operator's time uses.
using A = AssumedEfficiency;
std::vector<AssumedFlag> UsedBy(const GemmLine& line, const Device& device) {
  Gemm gemm;
  SetFormats(line, gemm);
  return {KernelOf(gemm, device) == GemmKernel::kFp8Tensor ? &A::gemm_efficiency_fp8 : &A::gemm_efficiency,
          &A::sustained_clock_derating, &A::rated_power, &A::bandwidth_efficiency, &A::launch_latency};
}
std::vector<AssumedFlag> UsedBy(const AttentionLine& line, const Device&) {
  const bool unfused = line.algorithm == AttentionAlgorithm::kUnfused ||
                       (line.engine && line.engine->kernels.attention == AttentionLibrary::kUnfused);
  if (line.phase == AttentionPhase::kDecode)
    return {&A::decode_bandwidth_efficiency, &A::l2_bandwidth, &A::usable_l2_fraction};
  return unfused ? std::vector<AssumedFlag>{} : std::vector<AssumedFlag>{&A::l2_bandwidth, &A::usable_l2_fraction};
}
std::vector<AssumedFlag> UsedBy(const MlaLine&, const Device&) { return {}; }
std::vector<AssumedFlag> UsedBy(const MoeLine&, const Device&) {
  return {&A::gemm_efficiency, &A::bandwidth_efficiency};
}
std::vector<AssumedFlag> UsedBy(const RowLine&, const Device&) { return {&A::launch_latency}; }

template <class Line>
Result<Json> Time(Json json, const Device& device) {
  Issues issues;
  Line line;
  ExpandPresets<Line>(json, "operator", issues);
  Read(json, "operator", issues, line);
  if (!issues.empty()) return issues;
  const KernelTime time = TimeLine(line, device, issues);
  if (!issues.empty()) return issues;
  Json assumed = Json::array();
  for (const std::string& path : AssumedPaths(device, "device", UsedBy(line, device))) assumed.push_back(path);
  return Json{
      {"time_s", time.time.base()}, {"bound", std::string(NameOf(time.bound))},    {"flops", time.flops.base()},
      {"bytes", time.bytes.base()}, {"algorithm", std::string(NameOf(line.kind))}, {"assumed", std::move(assumed)}};
}

struct DeviceLine {
  Device device;
};

}  // namespace

template <>
struct Schema<DeviceLine> {
  static constexpr FieldRow kRows[] = {Of<&DeviceLine::device>("device", "Accelerator").Required()};
  static constexpr Fields fields{kRows};
};

Result<Json> EvaluateOperator(const Json& request) {
  Issues issues;
  Json where = Json::object();
  for (const auto& [key, value] : request.items()) {
    if (key != "operator") where[key] = value;
  }
  DeviceLine line;
  if (where.contains("device")) DetachFromPreset(where["device"]);
  ExpandPresets<DeviceLine>(where, "", issues);
  Read(where, "", issues, line);
  const Json& json = request["operator"];
  const auto kind_text = json.is_object() ? json.find("kind") : json.end();
  if (!json.is_object() || kind_text == json.end()) {
    issues.push_back({"operator.kind", "Required: kind of operator"});
    return issues;
  }
  OperatorKind kind{};
  Read(*kind_text, "operator.kind", issues, kind);
  if (issues.empty() && line.device.design) issues = OverspentBudgets(*line.device.design, "device.design");
  if (issues.empty()) BuildDesign(line.device, std::nullopt, "device.design", issues);
  if (!issues.empty()) return issues;
  CompleteEfficiency(line.device);
  switch (kind) {
    case OperatorKind::kGemm:
      return Time<GemmLine>(json, line.device);
    case OperatorKind::kAttention:
      return Time<AttentionLine>(json, line.device);
    case OperatorKind::kMla:
      return Time<MlaLine>(json, line.device);
    case OperatorKind::kMoe:
      return Time<MoeLine>(json, line.device);
    default:
      return Time<RowLine>(json, line.device);
  }
}

}  // namespace slipstick
