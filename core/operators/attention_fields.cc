#include "core/base/field_table.h"
#include "core/operators/kernel_family_fields.h"

namespace slipstick {

constexpr FieldRow kPrefillRowFields[] = {
    Of<&PrefillRow::launch>("launch", "Fixed cost").In(kUs).AtLeast(0),
    Of<&PrefillRow::matrix>("matrix", "Share of the peak while the matrix units work").Above(0).AtMost(1),
    Of<&PrefillRow::matrix_fp8>("matrix_fp8", "The same where the kernel computes in fp8").Above(0).AtMost(1),
    Of<&PrefillRow::narrow>("narrow", "On heads up to 64 wide, over the others").Above(0),
    Of<&PrefillRow::narrow_fp8>("narrow_fp8", "The same of fp8 operands, in a 16-bit kernel; 0: the fp8 kernel").AtLeast(0),
    Of<&PrefillRow::exponentials>("exponentials", "Weight of an exponential").AtLeast(0),
    Of<&PrefillRow::tile>("tile", "Fixed cost of a tile of queries").In(kUs).AtLeast(0),
    Of<&PrefillRow::tail>("tail", "Of the longest tile of queries, left over at the end").AtLeast(0),
    Of<&PrefillRow::fp8_cache_in_fp8>("fp8_cache_in_fp8", "An fp8 cache makes 16-bit queries fp8 too"),
    Of<&PrefillRow::fused_pass>("fused_pass", "Rotary embedding and cache write inside the call"),
    Of<&PrefillRow::passes>("passes", "Times the cache's bytes move before it").AtLeast(0),
    Of<&PrefillRow::passes_fp8>("passes_fp8", "The same of an fp8 cache").AtLeast(0)};
constinit const Fields Schema<PrefillRow>::fields(kPrefillRowFields);

constexpr FieldRow kPrefillTableFields[] = {Of<&PrefillTable::generic>("generic", "Any library without a row of its own"),
                                            Of<&PrefillTable::trtllm>("trtllm", "TensorRT-LLM"),
                                            Of<&PrefillTable::flashinfer>("flashinfer", "FlashAttention-3 and FlashInfer")};
constinit const Fields Schema<PrefillTable>::fields(kPrefillTableFields);

constexpr FieldRow kDecodeRowFields[] = {
    Of<&DecodeRow::sharing>("sharing", "Holds where query heads share a KV head, or every one has its own"),
    Of<&DecodeRow::cache_bits>("cache_bits", "Holds for a cache of so many bits an element"),
    Of<&DecodeRow::narrow>("narrow", "Holds for heads up to 64 wide only"),
    Of<&DecodeRow::units_filled>("units_filled", "Work units that a unit takes at once").Above(0),
    Of<&DecodeRow::max_splits>("max_splits", "Of a sequence, at most").AtLeast(1),
    Of<&DecodeRow::min_split>("min_split", "Tokens of a split, at least").AtLeast(1),
    Of<&DecodeRow::launch>("launch", "Fixed cost").In(kUs).AtLeast(0),
    Of<&DecodeRow::unit_stream>("unit_stream", "That one work unit can pull; 0: no limit").In(kGBps).AtLeast(0),
    Of<&DecodeRow::merge>("merge", "Of the splits").In(kUs).AtLeast(0),
    Of<&DecodeRow::merge_a_split>("merge_a_split", "The same, each").In(kUs).AtLeast(0),
    Of<&DecodeRow::wave>("wave", "Of starting a further wave").In(kUs).AtLeast(0),
    Of<&DecodeRow::stream>("stream", "Over the device's share of the memory bandwidth").Above(0).AtMost(1)};
constinit const Fields Schema<DecodeRow>::fields(kDecodeRowFields);

constexpr FieldRow kDecodeTableFields[] = {Of<&DecodeTable::trtllm>("trtllm", "TensorRT-LLM"),
                                           Of<&DecodeTable::flashinfer>("flashinfer", "FlashAttention-3 and FlashInfer"),
                                           Of<&DecodeTable::generic>("generic", "Any library")};
constinit const Fields Schema<DecodeTable>::fields(kDecodeTableFields);

constexpr FieldRow kCoreRowFields[] = {Of<&CoreRow::matrix>("matrix", "Share of the peak while the matrix units work").Above(0).AtMost(1),
                                       Of<&CoreRow::matrix_fp8>("matrix_fp8", "The same in fp8; 0: no fp8 kernel").Between(0, 1),
                                       Of<&CoreRow::exponentials>("exponentials", "Weight of an exponential").AtLeast(0),
                                       Of<&CoreRow::tile>("tile", "Fixed cost of a tile of queries").In(kUs).AtLeast(0),
                                       Of<&CoreRow::wide>("wide", "On heads of more than 256 bytes, over the others").Above(0)};
constinit const Fields Schema<CoreRow>::fields(kCoreRowFields);

constexpr FieldRow kCoreKernelsFields[] = {Of<&CoreKernels::forward>("forward", "Forward pass"),
                                           Of<&CoreKernels::backward>("backward", "Backward pass, and both together")};
constinit const Fields Schema<CoreKernels>::fields(kCoreKernelsFields);

constexpr FieldRow kUnfusedRowFields[] = {
    Of<&UnfusedRow::launch>("launch", "Of its kernels").In(kUs).AtLeast(0),
    Of<&UnfusedRow::matrix>("matrix", "Share of the peak").Above(0).AtMost(1),
    Of<&UnfusedRow::stream>("stream", "Share of the memory bandwidth").Above(0).AtMost(1),
    Of<&UnfusedRow::passes>("passes", "Times a score goes to memory and back, forward and backward together").AtLeast(0),
    Of<&UnfusedRow::passes_causal>("passes_causal", "The same under a mask").AtLeast(0),
    Of<&UnfusedRow::forward>("forward", "Of the passes").Between(0, 1)};
constinit const Fields Schema<UnfusedRow>::fields(kUnfusedRowFields);

constexpr FieldRow kStepCoreTableFields[] = {
    Of<&StepCoreTable::source>("source", "Where form and constants of flash attention are from"),
    Of<&StepCoreTable::unfused_source>("unfused_source", "The same of attention that writes its scores"),
    Of<&StepCoreTable::tile>("tile", "Fixed cost of a tile of queries").In(kUs).AtLeast(0),
    Of<&StepCoreTable::backward_tile>("backward_tile", "The same backward, over it").AtLeast(0),
    Of<&StepCoreTable::backward_bytes>("backward_bytes", "Moved backward over forward").AtLeast(0),
    Of<&StepCoreTable::launch>("launch", "Of every block of a context-parallel ring").In(kUs).AtLeast(0),
    Of<&StepCoreTable::backward_launch>("backward_launch", "The same backward").In(kUs).AtLeast(0),
    Of<&StepCoreTable::unfused_matrix>("unfused_matrix", "Of the device's share of the peak, by batched products").Above(0).AtMost(1),
    Of<&StepCoreTable::unfused_stream>("unfused_stream", "Share of the memory bandwidth by the passes over the scores").Above(0).AtMost(1)};
constinit const Fields Schema<StepCoreTable>::fields(kStepCoreTableFields);

constexpr FieldRow kAttentionTableFields[] = {
    Of<&AttentionTable::source>("source", "Where form and constants of the tiles are from"),
    Of<&AttentionTable::decode_source>("decode_source", "The same of decode"),
    Of<&AttentionTable::prefill>("prefill", "Serving, by library"),
    Of<&AttentionTable::decode>("decode", "Serving, by library"),
    Of<&AttentionTable::decode_matrix>("decode_matrix", "Of the peak, in decode").Above(0).AtMost(1),
    Of<&AttentionTable::flash1>("flash1", "FlashAttention, timed alone"),
    Of<&AttentionTable::flash2>("flash2", "FlashAttention-2"),
    Of<&AttentionTable::flash3>("flash3", "FlashAttention-3 and cuDNN 9"),
    Of<&AttentionTable::backward>("backward", "Of the family's own kernels"),
    Of<&AttentionTable::core_launch>("core_launch", "Fixed cost of a core alone").In(kUs).AtLeast(0),
    Of<&AttentionTable::stream>("stream", "Share of the memory bandwidth by a kernel's own operands").Above(0).AtMost(1),
    Of<&AttentionTable::unfused>("unfused", "Two batched products and a softmax between them"),
    Of<&AttentionTable::step>("step", "The core inside a training step")};
constinit const Fields Schema<AttentionTable>::fields(kAttentionTableFields);

constexpr FieldRow kLatentPrefillRowFields[] = {
    Of<&LatentPrefillRow::launch>("launch", "Fixed cost").In(kUs).AtLeast(0),
    Of<&LatentPrefillRow::matrix>("matrix", "Share of the peak while the matrix units work").Above(0).AtMost(1),
    Of<&LatentPrefillRow::matrix_fp8>("matrix_fp8", "The same in fp8").Above(0).AtMost(1),
    Of<&LatentPrefillRow::exponentials>("exponentials", "Weight of an exponential").AtLeast(0),
    Of<&LatentPrefillRow::tile>("tile", "Fixed cost of a tile of queries").In(kUs).AtLeast(0),
    Of<&LatentPrefillRow::tail>("tail", "Of the longest tile of queries, left over at the end").AtLeast(0),
    Of<&LatentPrefillRow::passes>("passes", "Times the operands' bytes move before it").AtLeast(0),
    Of<&LatentPrefillRow::passes_fp8>("passes_fp8", "The same in fp8").AtLeast(0)};
constinit const Fields Schema<LatentPrefillRow>::fields(kLatentPrefillRowFields);

constexpr FieldRow kLatentDecodeRowFields[] = {
    Of<&LatentDecodeRow::splits>("splits", "Split-KV kernel; false: a unit walks a sequence's whole cache"),
    Of<&LatentDecodeRow::launch>("launch", "Fixed cost").In(kUs).AtLeast(0),
    Of<&LatentDecodeRow::stream>("stream", "Share of the memory bandwidth").Above(0).AtMost(1),
    Of<&LatentDecodeRow::matrix>("matrix", "Share of the peak").Above(0).AtMost(1),
    Of<&LatentDecodeRow::matrix_fp8>("matrix_fp8", "The same in fp8").Above(0).AtMost(1),
    Of<&LatentDecodeRow::merge_a_split>("merge_a_split", "With splits, each").In(kUs).AtLeast(0),
    Of<&LatentDecodeRow::wave>("wave", "With splits, of starting a further wave").In(kUs).AtLeast(0),
    Of<&LatentDecodeRow::token>("token", "Without, of a token of one walk").In(kNs).AtLeast(0)};
constinit const Fields Schema<LatentDecodeRow>::fields(kLatentDecodeRowFields);

constexpr FieldRow kLatentTableFields[] = {
    Of<&LatentTable::source>("source", "Where form and constants are from"),
    Of<&LatentTable::prefill>("prefill", "On expanded keys and values"), Of<&LatentTable::decode>("decode", "On the latent"),
    Of<&LatentTable::stream>("stream", "Share of the memory bandwidth by the operands of a prefill").Above(0).AtMost(1)};
constinit const Fields Schema<LatentTable>::fields(kLatentTableFields);

}  // namespace slipstick
