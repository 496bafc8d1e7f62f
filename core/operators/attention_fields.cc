#include "core/base/field_table.h"
#include "core/operators/kernel_family_fields.h"

namespace slipstick {

constexpr FieldRow kPrefillRowFields[] = {
    Of<&PrefillRow::launch>("launch", "Fixed overhead").In(kUs).AtLeast(0),
    Of<&PrefillRow::mma_efficiency>("matrix", "Fraction of the peak while the tensor cores work").Share(),
    Of<&PrefillRow::mma_efficiency_fp8>("matrix_fp8", "Fraction of the peak when the kernel computes in fp8").Share(),
    Of<&PrefillRow::narrow_head_factor_fp8>(
        "narrow_fp8", "Factor for fp8 operands of heads up to 64 wide in a 16-bit kernel; 0: fp8 kernel")
        .AtLeast(0),
    Of<&PrefillRow::exp_weight>("exponentials", "Time weight of an exponential").AtLeast(0),
    Of<&PrefillRow::tile_overhead>("tile", "Fixed overhead per tile of queries").In(kUs).AtLeast(0),
    Of<&PrefillRow::tail>("tail", "Fraction of the longest tile of queries left over at the end").AtLeast(0),
    Of<&PrefillRow::fp8_kv_cache_in_fp8>("fp8_cache_in_fp8", "An fp8 KV cache makes 16-bit queries fp8 too"),
    Of<&PrefillRow::fused_pass>("fused_pass", "Rotary embedding and KV-cache write inside the call"),
    Of<&PrefillRow::passes>("passes", "Times the KV-cache bytes move before attention").AtLeast(0),
    Of<&PrefillRow::passes_fp8>("passes_fp8", "Times the bytes of an fp8 KV cache move before attention").AtLeast(0)};
constinit const Fields Schema<PrefillRow>::fields(kPrefillRowFields);

constexpr FieldRow kPrefillTableFields[] = {
    Of<&PrefillTable::generic>("generic", "Any library"),
    Of<&PrefillTable::flashinfer>("flashinfer", "FlashAttention-3 and FlashInfer")};
constinit const Fields Schema<PrefillTable>::fields(kPrefillTableFields);

constexpr FieldRow kDecodeRowFields[] = {
    Of<&DecodeRow::blocks_per_sm>("units_filled", "Thread blocks resident per SM").Above(0),
    Of<&DecodeRow::max_splits>("max_splits", "Maximum splits per sequence").AtLeast(1),
    Of<&DecodeRow::min_split_tokens>("min_split", "Minimum tokens per split").AtLeast(1),
    Of<&DecodeRow::launch>("launch", "Fixed overhead").In(kUs).AtLeast(0),
    Of<&DecodeRow::merge>("merge", "Fixed time of merging the splits").In(kUs).AtLeast(0),
    Of<&DecodeRow::merge_per_split>("merge_a_split", "Time of merging, per split").In(kUs).AtLeast(0),
    Of<&DecodeRow::wave_launch>("wave", "Time per further wave of blocks").In(kUs).AtLeast(0)};
constinit const Fields Schema<DecodeRow>::fields(kDecodeRowFields);

constexpr FieldRow kCoreRowFields[] = {
    Of<&CoreRow::mma_efficiency>("matrix", "Fraction of the peak while the tensor cores work").Share(),
    Of<&CoreRow::mma_efficiency_fp8>("matrix_fp8", "Fraction of the peak in fp8; 0: no fp8 kernel").Between(0, 1),
    Of<&CoreRow::exp_weight>("exponentials", "Time weight of an exponential").AtLeast(0),
    Of<&CoreRow::tile_overhead>("tile", "Fixed overhead per tile of queries").In(kUs).AtLeast(0),
    Of<&CoreRow::wide_head_factor>("wide", "Factor for heads of more than 256 bytes").Above(0)};
constinit const Fields Schema<CoreRow>::fields(kCoreRowFields);

constexpr FieldRow kCoreKernelsFields[] = {Of<&CoreKernels::forward>("forward", "Forward pass"),
                                           Of<&CoreKernels::backward>("backward", "Backward pass, and both together")};
constinit const Fields Schema<CoreKernels>::fields(kCoreKernelsFields);

constexpr FieldRow kUnfusedRowFields[] = {
    Of<&UnfusedRow::launch>("launch", "Launch latency of its kernels").In(kUs).AtLeast(0),
    Of<&UnfusedRow::gemm_efficiency>("matrix", "Fraction of the peak").Share(),
    Of<&UnfusedRow::bandwidth_efficiency>("stream", "Fraction of the memory bandwidth").Share(),
    Of<&UnfusedRow::passes>("passes", "Memory round trips per score, forward and backward together").AtLeast(0),
    Of<&UnfusedRow::passes_causal>("passes_causal", "Memory round trips per score under a causal mask").AtLeast(0),
    Of<&UnfusedRow::forward_fraction>("forward", "Forward fraction of the passes").Between(0, 1)};
constinit const Fields Schema<UnfusedRow>::fields(kUnfusedRowFields);

constexpr FieldRow kStepCoreTableFields[] = {
    Of<&StepCoreTable::source>("source", "Source of form and constants of FlashAttention"),
    Of<&StepCoreTable::unfused_source>("unfused_source", "Source of form and constants of unfused attention"),
    Of<&StepCoreTable::tile_overhead>("tile", "Fixed overhead per tile of queries").In(kUs).AtLeast(0),
    Of<&StepCoreTable::backward_tile_factor>("backward_tile", "Tile overhead backward over forward").AtLeast(0),
    Of<&StepCoreTable::operand_passes>("operand_passes", "Times that operands and output pass the memory forward")
        .Above(0),
    Of<&StepCoreTable::backward_bytes_factor>("backward_bytes", "Bytes moved backward over forward").AtLeast(0),
    Of<&StepCoreTable::launch>("launch", "Launch latency per block of a context-parallel ring").In(kUs).AtLeast(0),
    Of<&StepCoreTable::backward_launch>("backward_launch", "Launch latency backward").In(kUs).AtLeast(0),
    Of<&StepCoreTable::unfused_gemm_efficiency>("unfused_matrix",
                                                "Efficiency of batched GEMMs over the device's GEMM efficiency")
        .Share(),
    Of<&StepCoreTable::unfused_full_width>("unfused_full_width",
                                           "Head width from which batched GEMMs reach that efficiency")
        .AtLeast(1),
    Of<&StepCoreTable::unfused_bandwidth_efficiency>("unfused_stream",
                                                     "Fraction of the memory bandwidth in passes over the scores")
        .Share()};
constinit const Fields Schema<StepCoreTable>::fields(kStepCoreTableFields);

constexpr FieldRow kAttentionTableFields[] = {
    Of<&AttentionTable::source>("source", "Source of form and constants of the tile model"),
    Of<&AttentionTable::decode_source>("decode_source", "Source of form and constants of decode"),
    Of<&AttentionTable::tile>("tile", "Queries, and keys, of a tile").AtLeast(1),
    Of<&AttentionTable::overlap>("overlap", "Exponent of the norm of compute and memory time").AtLeast(1),
    Of<&AttentionTable::exponential_overlap>("exponential_overlap",
                                             "Exponent of the norm of a tile's GEMM time and exponential time")
        .AtLeast(1),
    Of<&AttentionTable::prefill>("prefill", "Prefill in serving, by library"),
    Of<&AttentionTable::decode>("decode", "Decode in serving"),
    Of<&AttentionTable::decode_mma_efficiency>("decode_matrix", "Fraction of the peak in decode").Share(),
    Of<&AttentionTable::flash1>("flash1", "FlashAttention, isolated"),
    Of<&AttentionTable::flash2>("flash2", "FlashAttention-2"),
    Of<&AttentionTable::flash3>("flash3", "FlashAttention-3 and cuDNN 9"),
    Of<&AttentionTable::backward>("backward", "Backward pass of the family's own kernels"),
    Of<&AttentionTable::core_launch_latency>("core_launch", "Launch latency of an isolated core").In(kUs).AtLeast(0),
    Of<&AttentionTable::bandwidth_efficiency>("stream", "Fraction of the memory bandwidth for a kernel's operands")
        .Share(),
    Of<&AttentionTable::unfused>("unfused", "Two batched GEMMs with a softmax between them"),
    Of<&AttentionTable::step>("step", "The core inside a training step")};
constinit const Fields Schema<AttentionTable>::fields(kAttentionTableFields);

constexpr FieldRow kLatentPrefillRowFields[] = {
    Of<&LatentPrefillRow::launch>("launch", "Fixed overhead").In(kUs).AtLeast(0),
    Of<&LatentPrefillRow::mma_efficiency>("matrix", "Fraction of the peak while the tensor cores work").Share(),
    Of<&LatentPrefillRow::mma_efficiency_fp8>("matrix_fp8", "Fraction of the peak in fp8").Share(),
    Of<&LatentPrefillRow::exp_weight>("exponentials", "Time weight of an exponential").AtLeast(0),
    Of<&LatentPrefillRow::tile_overhead>("tile", "Fixed overhead per tile of queries").In(kUs).AtLeast(0),
    Of<&LatentPrefillRow::tail>("tail", "Fraction of the longest tile of queries left over at the end").AtLeast(0),
    Of<&LatentPrefillRow::passes>("passes", "Times the operand bytes move before attention").AtLeast(0),
    Of<&LatentPrefillRow::passes_fp8>("passes_fp8", "Times the operand bytes move before attention in fp8").AtLeast(0)};
constinit const Fields Schema<LatentPrefillRow>::fields(kLatentPrefillRowFields);

constexpr FieldRow kLatentDecodeRowFields[] = {
    Of<&LatentDecodeRow::has_split_kv>("splits",
                                       "Split-KV kernel; false: one SM walks the whole KV cache of a sequence"),
    Of<&LatentDecodeRow::launch>("launch", "Fixed overhead").In(kUs).AtLeast(0),
    Of<&LatentDecodeRow::bandwidth_efficiency>("stream", "Fraction of the memory bandwidth").Share(),
    Of<&LatentDecodeRow::mma_efficiency>("matrix", "Fraction of the peak").Share(),
    Of<&LatentDecodeRow::mma_efficiency_fp8>("matrix_fp8", "Fraction of the peak in fp8").Share(),
    Of<&LatentDecodeRow::merge_per_split>("merge_a_split", "With split-KV: time of merging, per split")
        .In(kUs)
        .AtLeast(0),
    Of<&LatentDecodeRow::wave_launch>("wave", "With split-KV: time per further wave of blocks").In(kUs).AtLeast(0),
    Of<&LatentDecodeRow::per_token>("token", "Without split-KV: time per token").In(kNs).AtLeast(0),
    Of<&LatentDecodeRow::overlap>("overlap", "Exponent of the norm of compute and memory time").AtLeast(1),
    Of<&LatentDecodeRow::grouped_per_clock>("grouped_per_clock",
                                            "Most FLOP of an SM per clock in Triton's kernel, 16 heads to a block; 0: "
                                            "the 16-bit peak")
        .In(kFlop)
        .AtLeast(0)};
constinit const Fields Schema<LatentDecodeRow>::fields(kLatentDecodeRowFields);

constexpr FieldRow kSparseLatentRowFields[] = {
    Of<&SparseLatentRow::source>("source", "Source of form and constants"),
    Of<&SparseLatentRow::launch>("launch", "Fixed overhead of each kernel: scores, selection, attention")
        .In(kUs)
        .AtLeast(0),
    Of<&SparseLatentRow::score_efficiency>("scores", "Indexer scores: fraction of the fp8 peak").Share(),
    Of<&SparseLatentRow::selection_efficiency>("selection",
                                               "Selection of the best tokens: fraction of the memory bandwidth")
        .Share(),
    Of<&SparseLatentRow::mma_efficiency>("matrix", "Attention: fraction of the 16-bit peak").Share(),
    Of<&SparseLatentRow::mma_efficiency_narrow>("matrix_narrow",
                                                "Decode from an 8-bit KV cache: fraction of the 16-bit peak")
        .Share(),
    Of<&SparseLatentRow::head_block>("head_block", "Query heads are padded to a multiple").AtLeast(1),
    Of<&SparseLatentRow::heads_in_columns>("heads_in_columns",
                                           "A second kernel for few heads has the tokens in the rows of the matrix "
                                           "instruction, 16 heads in its columns, and computes in the cache's format"),
    Of<&SparseLatentRow::scaled_rows>("scaled_rows",
                                      "Rows of an 8-bit KV cache hold a scale for 128 numbers of the latent, and the "
                                      "rotary part in 16 bit")};
constinit const Fields Schema<SparseLatentRow>::fields(kSparseLatentRowFields);

constexpr FieldRow kLatentTableFields[] = {
    Of<&LatentTable::source>("source", "Source of form and constants"),
    Of<&LatentTable::prefill>("prefill", "Prefill on up-projected keys and values"),
    Of<&LatentTable::decode>("decode", "Decode on the latent"),
    Of<&LatentTable::sparse>("sparse", "Sparse attention on the latent, with an indexer"),
    Of<&LatentTable::bandwidth_efficiency>("stream", "Fraction of the memory bandwidth for the operands of a prefill")
        .Share()};
constinit const Fields Schema<LatentTable>::fields(kLatentTableFields);

}  // namespace slipstick
