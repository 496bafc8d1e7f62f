#include "core/diffusion/transformer.h"

#include "core/base/figure.h"
#include "core/collectives/collective.h"
#include "core/mapping/placement.h"
#include "core/operators/attention.h"
#include "core/operators/gemm.h"
#include "core/operators/rowwise.h"

namespace slipstick {
namespace {

// Passes over a row of queries or keys that PyTorch makes if nothing is fused, each counted as if it read and wrote 16
// bits per element. The norm converts to 32 bits (1.5), squares (2), takes the mean (1), scales (1.5), converts back
// (1.5) and applies its weights (1); the rotary embedding turns pairs (1.5), converts both operands (3), multiplies
// both (4), adds (3) and converts back (1.5): RMSNorm and apply_rotary_emb of huggingface/diffusers. The host launches
// eight operations for each.
constexpr double kEagerNorm = 8.5, kEagerRotary = 13, kNormOperations = 8, kRotaryOperations = 8;

// Bytes per element that a ring moves to add outputs up in 32 bits, one part of the keys and values after another: it
// converts the new output (6), subtracts (12), weighs (8) and subtracts again (12); the first and the last output are
// converted too. Five operations on the sums of exponentials are beside these four: _SDPAMerger of
// torch.distributed.tensor.experimental. Fused, a sum is read and written in 32 bits and an output read in 16.
constexpr double kEagerMerge = 38, kFusedMerge = 10, kConversions = 12, kMergeOperations = 9;
constexpr double kPassBytes = 4;  // per element that is read and written in 16 bits

// Kernels of one pass, on one device.
class Pass {
 public:
  Pass(const Request& request, const Device& device, const Cluster& cluster)
      : request_(request), device_(device), cluster_(cluster) {}

  // Rows of the image and of the text on this device.
  [[nodiscard]] Ratio ImageRows() const { return RowsOf(request_.image_tokens); }
  // Text that does not divide into equal parts is whole on every rank.
  [[nodiscard]] Ratio TextRows() const {
    const DiffusionRun& run = request_.run;
    return run.model.text_tokens % (run.ulysses * run.ring) == 0 ? RowsOf(request_.text_tokens)
                                                                 : Batch() * request_.text_tokens;
  }

  void Product(Ratio rows, Ratio outputs, Ratio inputs, Ratio times) {
    Launch(times);
    pass_.products.Add(ProductOf(rows, outputs, inputs, request_.run.precision, device_), times);
  }

  void Rows(RowKind kind, Ratio rows, Ratio columns, Ratio times) {
    Launch(times);
    AddRows(kind, rows, columns, times);
  }

  // Passes over rows of the hidden size, each counted as if it read and wrote 16 bits per element, by the operations
  // that PyTorch launches for them.
  void Passes(Ratio rows, Ratio passes, Ratio operations) {
    Launch(operations);
    AddRows(RowKind::kNorm, rows, request_.hidden, passes);
  }

  // Query, key and value projections: one product if compiled, three in eager PyTorch.
  void InputProducts(Ratio rows, Ratio outputs, Ratio times) {
    Product(rows, outputs, request_.hidden, times);
    Launch(2 * times);
  }

  // Shifts, scales and gates from the time embedding, after an activation.
  void Modulation(Ratio vectors, Ratio times) {
    Product(Batch(), vectors * request_.hidden, request_.modulation_width, times);
    Launch(times);
  }

  // A norm whose result is scaled and shifted by the time embedding.
  void ModulatedNorm(Ratio rows, Ratio times) { Passes(rows, (is_compiled() ? 1 : 3) * times, 4 * times); }
  // Adds the output of a part, multiplied by a gate, to the residual stream.
  void GatedResidual(Ratio rows, Ratio times) {
    Rows(RowKind::kAdd, rows, request_.hidden, times);
    if (!is_compiled()) Rows(RowKind::kNorm, rows, request_.hidden, times);
  }
  // Norm and rotary embedding of queries and keys, `operands` of them.
  void QueriesAndKeys(Ratio rows, Ratio operands, bool rotates, Ratio times) {
    const DiffusionModel& model = request_.run.model;
    const bool is_rotary = rotates && model.rotary;
    if (!model.qk_norm && !is_rotary) return;
    if (is_compiled()) return Rows(RowKind::kRope, rows, operands * request_.hidden, times);
    const double passes = (model.qk_norm ? kEagerNorm : 0) + (is_rotary ? kEagerRotary : 0),
                 operations = (model.qk_norm ? kNormOperations : 0) + (is_rotary ? kRotaryOperations : 0);
    Passes(rows, passes * operands * times, operations * operands * times);
  }

  // Attention of the `queries` of this device's ring rank to all keys.
  void Attend(Ratio queries, Ratio keys, Ratio times) {
    const DiffusionRun& run = request_.run;
    const Ratio ring = run.ring;
    Attention attention;
    attention.batch = request_.sequences;
    attention.q_len = queries / ring;
    attention.kv_len = keys;
    attention.heads = attention.kv_heads = request_.heads / Ratio(run.ulysses);
    attention.head_dim = request_.head_dim;
    attention.causal = false;
    attention.writes_kv_cache = false;
    attention.algorithm = run.attention;
    const KernelTime kernel = TimeOf(attention, device_);
    pass_.attention.Add(kernel, times);
    Launch(ring * times);
  }

  // Exchange if ranks share the tokens of an attention: heads for tokens and back; keys and values around the ring.
  void Exchange(Ratio rows, Seconds attention, Ratio times) {
    const DiffusionRun& run = request_.run;
    if (run.ulysses > 1) {
      const Bytes bytes = Figure("Rows of a rank", rows * request_.hidden * (2 * kB), "in 16 bit");
      const Seconds one = TimeOver("ulysses", CollectiveType::kAllToAll, bytes);
      pass_.communication += times * (4 * one);
      Launch(4 * times);
      // Separate copies reorder the rows before they are sent and after they are received.
      if (!is_compiled()) Passes(rows, 8 * times, 8 * times);
    }
    if (run.ring > 1) {
      const Ratio ring = run.ring;
      const Bytes bytes =
          Figure("Keys and values of a rank", 2 * rows * request_.hidden * (2 * kB), "in 16 bit, of its heads");
      const Seconds one = TimeOver("ring", CollectiveType::kSendReceive, bytes);
      pass_.communication +=
          times * Figure("Exposed exchange around the ring", (ring - 1) * max(Seconds(), one - attention / ring),
                         "beside the attention to the part before");
      const Ratio bytes_moved = is_compiled() ? (ring - 1) * kFusedMerge : (ring - 1) * kEagerMerge + kConversions;
      Passes(rows, bytes_moved / kPassBytes * times, ((ring - 1) * kMergeOperations + 2) * times);
    }
  }

  void Joint() {
    const Ratio blocks = request_.joint_blocks, hidden = request_.hidden, ffn = request_.ffn;
    if (!(blocks > 0)) return;
    for (const Ratio rows : {ImageRows(), TextRows()}) {
      Modulation(6, blocks);
      ModulatedNorm(rows, 2 * blocks);
      InputProducts(rows, 3 * hidden, blocks);
      QueriesAndKeys(rows, 2, true, blocks);
      Rows(RowKind::kNorm, rows, (is_compiled() ? 1 : 3) * hidden, blocks);  // concatenation
      Product(rows, hidden, hidden, blocks);
      GatedResidual(rows, 2 * blocks);
      Product(rows, ffn, hidden, blocks);
      Rows(RowKind::kGelu, rows, ffn, blocks);
      Product(rows, hidden, ffn, blocks);
    }
    AttendToAll(blocks);
    Dual();
  }

  // The second attention of a joint block; it modulates the first one's input separately.
  void Dual() {
    const Ratio blocks = request_.dual_blocks, hidden = request_.hidden, rows = ImageRows();
    if (!(blocks > 0)) return;
    Modulation(3, blocks);
    ModulatedNorm(rows, blocks);
    InputProducts(rows, 3 * hidden, blocks);
    QueriesAndKeys(rows, 2, true, blocks);
    AttendToImage(blocks);
    Product(rows, hidden, hidden, blocks);
    GatedResidual(rows, blocks);
  }

  void Single() {
    const Ratio blocks = request_.single_blocks, hidden = request_.hidden, ffn = request_.ffn;
    if (!(blocks > 0)) return;
    const Ratio rows = ImageRows() + TextRows();
    Modulation(3, blocks);
    ModulatedNorm(rows, blocks);
    InputProducts(rows, 3 * hidden + ffn, blocks);
    QueriesAndKeys(rows, 2, true, blocks);
    Rows(RowKind::kGelu, rows, ffn, blocks);
    Rows(RowKind::kNorm, rows, is_compiled() ? hidden : hidden + ffn, blocks);  // attention and MLP concatenated
    Product(rows, hidden, hidden + ffn, blocks);
    GatedResidual(rows, blocks);
    AttendToAll(blocks);
  }

  void Cross() {
    const Ratio blocks = request_.cross_blocks, hidden = request_.hidden, ffn = request_.ffn;
    if (!(blocks > 0)) return;
    const Ratio rows = ImageRows(), text = Batch() * request_.text_tokens;
    if (!request_.run.model.shared_modulation) Modulation(6, blocks);
    ModulatedNorm(rows, 2 * blocks);
    Rows(RowKind::kNorm, rows, hidden, blocks);
    InputProducts(rows, 3 * hidden, blocks);
    QueriesAndKeys(rows, 2, true, blocks);
    AttendToImage(blocks);
    Product(rows, hidden, hidden, 3 * blocks);  // output, and query and output of the cross-attention
    Product(text, 2 * hidden, hidden, blocks);
    QueriesAndKeys(rows, 1, false, blocks);
    QueriesAndKeys(text, 1, false, blocks);
    Attend(request_.image_tokens, request_.text_tokens, blocks);
    GatedResidual(rows, 2 * blocks);
    Rows(RowKind::kAdd, rows, hidden, blocks);
    Product(rows, ffn, hidden, blocks);
    Rows(RowKind::kGelu, rows, ffn, blocks);
    Product(rows, hidden, ffn, blocks);
  }

  [[nodiscard]] const TransformerPass& Done() const { return pass_; }

 private:
  void AddRows(RowKind kind, Ratio rows, Ratio columns, Ratio times) {
    RowKernel kernel;
    kernel.kind = kind;
    kernel.rows = rows;
    kernel.columns = columns;
    pass_.row_kernels.Add(TimeOf(kernel, device_), times);
  }

  [[nodiscard]] bool is_compiled() const { return request_.run.compiled; }
  [[nodiscard]] Ratio Batch() const { return request_.sequences; }
  void Launch(Ratio operations) {
    if (!is_compiled()) pass_.launches += operations;
  }
  [[nodiscard]] Ratio RowsOf(Ratio tokens) const { return Batch() * tokens / request_.ranks; }

  void AttendToImage(Ratio blocks) { AttendToEachOther(request_.image_tokens, ImageRows(), blocks); }
  void AttendToAll(Ratio blocks) {
    const Ratio tokens = Figure("Tokens", request_.image_tokens + request_.text_tokens, "latents and text");
    AttendToEachOther(tokens, ImageRows() + TextRows(), blocks);
  }
  // Attention of all `tokens` to all, of which this device has `rows`, with the exchange around it.
  void AttendToEachOther(Ratio tokens, Ratio rows, Ratio blocks) {
    const Seconds before = pass_.attention.time;
    Attend(tokens, tokens, blocks);
    Exchange(rows, (pass_.attention.time - before) / blocks, blocks);
  }

  [[nodiscard]] Seconds TimeOver(std::string_view group, CollectiveType type, Bytes bytes) const {
    const std::vector<Degree> order{{"ulysses", static_cast<double>(request_.run.ulysses)},
                                    {"ring", static_cast<double>(request_.run.ring)}};
    CollectiveCall call;
    call.type = type;
    call.bytes = bytes;
    return Figure(group == "ring" ? "Message to the next rank" : "Exchange of tokens for heads",
                  TimeOf(call, PlaceGroup(cluster_, order, group), cluster_).time, "by the cluster's collectives");
  }

  const Request& request_;
  const Device& device_;
  const Cluster& cluster_;
  TransformerPass pass_;
};

}  // namespace

void KernelSum::Add(const KernelTime& kernel, Ratio times) {
  time += times * kernel.time;
  flops += times * kernel.flops;
  bytes += times * kernel.bytes;
}

KernelTime ProductOf(Ratio rows, Ratio outputs, Ratio inputs, Precision precision, const Device& device) {
  Gemm gemm;
  gemm.m = rows, gemm.n = outputs, gemm.k = inputs;
  gemm.precision = gemm.weights = precision;
  return TimeOf(gemm, device, TrainingKernelParameters(gemm, device));
}

TransformerPass PassOf(const Request& request, const Device& device, const Cluster& cluster) {
  Pass pass(request, device, cluster);
  pass.Joint();
  pass.Single();
  pass.Cross();
  return pass.Done();
}

}  // namespace slipstick
