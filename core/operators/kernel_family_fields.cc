#include "core/operators/kernel_family_fields.h"

#include "core/base/field_table.h"

namespace slipstick {

constexpr FieldRow kKernelTraitsFields[] = {
    Of<&KernelTraits::tiled>("tiled", "Many small units (SMs), one output tile each; false: few large matrix engines"),
    Of<&KernelTraits::asynchronous_mma>("asynchronous_mma", "Tensor cores are fed in the background (wgmma, tcgen05)"),
    Of<&KernelTraits::has_l2>("cached",
                              "The last level before DRAM is a cache; false: a scratchpad managed by software"),
    Of<&KernelTraits::l2_bytes_per_clock>("cache_feed", "Bytes per clock from L2 into one SM").In(kB).Above(0),
    Of<&KernelTraits::l2_over_memory>("cache_over_memory", "Lower bound on L2 bandwidth over memory bandwidth")
        .AtLeast(0),
    Of<&KernelTraits::l2_efficiency>("cache_efficiency",
                                     "Lower bound on what reads that hit the L2 reach of its stated bandwidth")
        .Between(0, 1),
    Of<&KernelTraits::threads_per_clock>("lanes", "Threads issued per SM and clock").AtLeast(1),
    Of<&KernelTraits::mma_rows>("row_grain", "Rows that a tensor core computes together").AtLeast(1),
    Of<&KernelTraits::decode_query_rows>("query_rows",
                                         "Query rows of a decode kernel that are computed together and share a key")
        .AtLeast(1),
    Of<&KernelTraits::l2_rows>("l2_rows", "Rows of outputs whose operands are fetched from L2 together, at most")
        .AtLeast(1),
    Of<&KernelTraits::l2_columns>("l2_columns",
                                  "Columns of outputs whose operands are fetched from L2 together, at most")
        .AtLeast(1),
    Of<&KernelTraits::fragment_rows>("fragment_rows", "Rows of outputs per operand read from shared memory").AtLeast(1),
    Of<&KernelTraits::fragment_columns>("fragment_columns", "Columns of outputs per operand read from shared memory")
        .AtLeast(1)};
constinit const Fields Schema<KernelTraits>::fields(kKernelTraitsFields);

constexpr FieldRow kGemmRowFields[] = {
    Of<&GemmRow::gemm_efficiency>("matrix", "GEMM efficiency over that of the 16-bit kernels").Above(0),
    Of<&GemmRow::bandwidth_efficiency>("stream", "Bandwidth efficiency over that of the 16-bit kernels").Above(0),
    Of<&GemmRow::step_latency>("step_latency", "Lower bound on the time per 64 inputs of a tile").In(kNs).AtLeast(0),
    Of<&GemmRow::has_split_k>("splits", "Split-K kernels exist"),
    Of<&GemmRow::columns_by_96>("columns_by_96", "Tiles of 96 and 192 columns exist"),
    Of<&GemmRow::columns_by_32>("columns_by_32", "Tiles of 32 columns exist"),
    Of<&GemmRow::drain_per_clock>(
        "drain", "Bytes per clock of a tile's outputs, written after its k loop; 0: beside the next tile")
        .In(kB)
        .AtLeast(0),
    Of<&GemmRow::quantize_bytes>("quantise_bytes", "Bytes per activation element moved by the quantizing pass")
        .AtLeast(0),
    Of<&GemmRow::quantize_efficiency>("quantise_share",
                                      "Bandwidth efficiency of the quantizing pass over the achievable bandwidth")
        .Above(0),
    Of<&GemmRow::extra_overhead>("extra", "Fixed overhead of quantizing, or of converting the weights")
        .In(kUs)
        .AtLeast(0),
    Of<&GemmRow::extra_overhead_few_rows>("extra_few_rows", "The fixed overhead in kernels for few rows")
        .In(kUs)
        .AtLeast(0),
    Of<&GemmRow::always_extra_overhead>("always_extra", "The overhead also applies to quantized activations"),
    Of<&GemmRow::convert_per_clock>("convert_per_clock", "Weights converted per SM and clock; 0: no conversion")
        .AtLeast(0)};
constinit const Fields Schema<GemmRow>::fields(kGemmRowFields);

constexpr FieldRow kL2ReuseFields[] = {
    Of<&L2Reuse::activations>("activations", "L2 capacities that keep half of the activations between kernels")
        .AtLeast(0),
    Of<&L2Reuse::quantized_activations>(
        "quantised", "L2 capacities that keep half of the activations between the quantizing pass and the GEMM")
        .AtLeast(0),
    Of<&L2Reuse::min_weights>("least", "Minimum fraction of the L2 that reused weights may fill").AtLeast(0),
    Of<&L2Reuse::max_weights>("most", "Maximum fraction of the L2 that reused weights may fill").AtLeast(0),
    Of<&L2Reuse::usable_over_min>("over_share", "Usable L2 fraction over what it adds to the minimum").Above(0),
    Of<&L2Reuse::falloff>("fall", "L2 capacities from all weights found to none").Above(0),
    Of<&L2Reuse::no_reuse_from>("missed_from", "Operand size, in L2 capacities, from which nothing is found again")
        .Above(0),
    Of<&L2Reuse::reread_factor>("read_again", "Operand rereads over the minimum of the resident tiles").AtLeast(0)};
constinit const Fields Schema<L2Reuse>::fields(kL2ReuseFields);

constexpr FieldRow kGemmTableFields[] = {
    Of<&GemmTable::source>("source", "Source of form and constants"),
    Of<&GemmTable::sixteen_bit>("sixteen_bit", "Both operands in 16 bit"),
    Of<&GemmTable::fp8_tensor>("fp8_tensor", "Both in fp8, one scale per tensor"),
    Of<&GemmTable::fp8_block>("fp8_block", "Both in fp8, one scale per block"),
    Of<&GemmTable::four_bit_float>("four_bit_float", "Both in nvfp4 or mxfp4"),
    Of<&GemmTable::int8>("int8", "Both in int8"),
    Of<&GemmTable::int8_weights>("int8_weights", "8-bit weights, converted"),
    Of<&GemmTable::int4_weights>("int4_weights", "4-bit weights, converted"),
    Of<&GemmTable::few_rows>("few_rows", "Largest number of rows for the few-row kernels").AtLeast(0),
    Of<&GemmTable::grouped_bandwidth_gain>("grouped_stream",
                                           "Bandwidth efficiency of grouped GEMMs over that of a single one")
        .Above(0),
    Of<&GemmTable::derating_ramp>("power_ramp", "Time of a single kernel at which half of the clock loss is reached")
        .In(kMs)
        .AtLeast(0),
    Of<&GemmTable::pass_derating_ramp>(
        "pass_power_ramp", "Kernel time at which half of the clock loss is reached in a pass of many kernels")
        .In(kMs)
        .AtLeast(0),
    Of<&GemmTable::training_launch_latency>("training_launch", "Kernel launch latency in a training step")
        .In(kUs)
        .AtLeast(0),
    Of<&GemmTable::serving_quantize_bytes>("serving_quantise",
                                           "Bytes per fp8 activation element moved inside a serving step")
        .AtLeast(0),
    Of<&GemmTable::copy_bytes_per_clock>("feed", "Bytes per clock of asynchronous copies into one SM")
        .In(kB)
        .AtLeast(0),
    Of<&GemmTable::tile_load>("tile_load", "Rows or columns of a tile that take as long to load as to compute")
        .AtLeast(0),
    Of<&GemmTable::fill>("fill", "Time to fill and drain a tile").In(kUs).AtLeast(0),
    Of<&GemmTable::split_k_merge>("merge", "Fixed time of the split-K merge kernel").In(kUs).AtLeast(0),
    Of<&GemmTable::overlap>(
        "overlap", "Exponent of the norm of compute and memory time: 1 adds them, a large one takes the longer")
        .AtLeast(1),
    Of<&GemmTable::l2>("cache", "Reuse of data that the kernel before left in L2")};
constinit const Fields Schema<GemmTable>::fields(kGemmTableFields);

constexpr FieldRow kPowerFallFields[] = {
    Of<&PowerFall::no_loss>("none", "Energy per FLOP from which nothing is lost").In(kPJPerFlop).Above(0),
    Of<&PowerFall::min_time>("least", "Minimum time over that of a short kernel").AtLeast(1),
    Of<&PowerFall::max_time>("most", "Maximum time over that of a short kernel").AtLeast(1)};
constinit const Fields Schema<PowerFall>::fields(kPowerFallFields);

constexpr FieldRow kRuleTextsFields[] = {
    Of<&RuleTexts::gemm_efficiency>("matrix", "Text in explanations"),
    Of<&RuleTexts::gemm_efficiency_fp8>("matrix_fp8", "Text in explanations"),
    Of<&RuleTexts::sustained_clock_derating>("sustained_fall", "Text in explanations"),
    Of<&RuleTexts::rated_power>("rated_power", "Text in explanations"),
    Of<&RuleTexts::bandwidth_efficiency>("stream", "Text in explanations"),
    Of<&RuleTexts::launch_latency>("launch", "Text in explanations"),
    Of<&RuleTexts::attention_forward>("attention_forward", "Text in explanations"),
    Of<&RuleTexts::attention_backward>("attention_backward", "Text in explanations"),
    Of<&RuleTexts::decode_bandwidth_efficiency>("decode_stream", "Text in explanations"),
    Of<&RuleTexts::l2_bandwidth>("cache_stream", "Text in explanations"),
    Of<&RuleTexts::usable_l2_fraction>("cache_share", "Text in explanations"),
    Of<&RuleTexts::usable>("usable", "Text in explanations")};
constinit const Fields Schema<RuleTexts>::fields(kRuleTextsFields);

constexpr FieldRow kDataSheetRulesFields[] = {
    Of<&DataSheetRules::min_gemm_efficiency>("matrix_least", "Minimum GEMM efficiency").Share(),
    Of<&DataSheetRules::max_gemm_efficiency>("matrix_most", "Maximum GEMM efficiency").Share(),
    Of<&DataSheetRules::max_gemm_energy>("matrix_energy", "Energy per FLOP from which the maximum applies")
        .In(kPJPerFlop)
        .Above(0),
    Of<&DataSheetRules::gemm_efficiency_fp8>("matrix_fp8", "fp8 GEMM efficiency over that of 16 bit").Share(),
    Of<&DataSheetRules::sustained>("sustained", "Clock loss of long runs at the power limit"),
    Of<&DataSheetRules::sustained_clock_derating>("sustained_fall", "In place of that rule").AtLeast(0),
    Of<&DataSheetRules::min_bandwidth_efficiency>("stream_least", "Minimum fraction of the memory bandwidth").Share(),
    Of<&DataSheetRules::max_bandwidth_efficiency>("stream_most", "Maximum fraction of the memory bandwidth").Share(),
    Of<&DataSheetRules::min_efficiency_bandwidth>("stream_bandwidth", "Memory bandwidth from which the minimum applies")
        .In(kGBps)
        .Above(0),
    Of<&DataSheetRules::launch_latency>("launch", "Kernel launch latency").In(kUs).AtLeast(0),
    Of<&DataSheetRules::decode_bandwidth_efficiency>("decode_stream",
                                                     "Fraction of the memory bandwidth in decode attention")
        .Share(),
    Of<&DataSheetRules::attention_forward>("attention_forward",
                                           "FlashAttention forward in training, fraction of the dense peak")
        .Share(),
    Of<&DataSheetRules::attention_backward>("attention_backward",
                                            "FlashAttention backward in training, fraction of the dense peak")
        .Share(),
    Of<&DataSheetRules::attention_exponentials>("attention_exponentials",
                                                "Fraction of the exponentials not hidden by the GEMMs")
        .Between(0, 1),
    Of<&DataSheetRules::l2_over_memory>("cache_over_memory", "L2 bandwidth in attention over the memory bandwidth")
        .Above(0),
    Of<&DataSheetRules::min_l2_bandwidth>("cache_least", "Minimum L2 bandwidth in attention").In(kTBps).Above(0),
    Of<&DataSheetRules::usable_l2_fraction>("cache_share", "Fraction of the L2 in which reused data is still found")
        .Share(),
    Of<&DataSheetRules::usable>("usable", "Usable fraction of the nominal capacity, read as GiB").Share(),
    Of<&DataSheetRules::texts>("texts", "Text of each rule in explanations")};
constinit const Fields Schema<DataSheetRules>::fields(kDataSheetRulesFields);

constexpr FieldRow kExpertRowFields[] = {
    Of<&ExpertRow::launch>("launch", "Fixed overhead of the kernels of the layer").In(kUs).AtLeast(0),
    Of<&ExpertRow::expert>("expert", "More for each expert that the device holds, hit or not").In(kUs).AtLeast(0),
    Of<&ExpertRow::permute_efficiency>("move",
                                       "Bandwidth efficiency of permute and combine over the achievable bandwidth")
        .Above(0),
    Of<&ExpertRow::gemm_efficiency>("matrix", "GEMM efficiency over that of the 16-bit kernels").Above(0),
    Of<&ExpertRow::bandwidth_efficiency>("stream", "Bandwidth efficiency of the weights over the achievable bandwidth")
        .Above(0)};
constinit const Fields Schema<ExpertRow>::fields(kExpertRowFields);

constexpr FieldRow kExpertKernelsFields[] = {
    Of<&ExpertKernels::sixteen_bit>("sixteen_bit", "Both operands in 16 bit"),
    Of<&ExpertKernels::fp8_tensor>("fp8_tensor", "Both in fp8, one scale per tensor"),
    Of<&ExpertKernels::fp8_block>("fp8_block", "Both in fp8, one scale per block"),
    Of<&ExpertKernels::four_bit_float>("four_bit_float", "Both in nvfp4 or mxfp4"),
    Of<&ExpertKernels::eight_by_four>("eight_by_four", "8-bit activations, 4-bit weights")};
constinit const Fields Schema<ExpertKernels>::fields(kExpertKernelsFields);

constexpr FieldRow kExpertTableFields[] = {
    Of<&ExpertTable::source>("source", "Source of form and constants"),
    Of<&ExpertTable::launch>("launch", "Fixed overhead of the kernels of a layer").In(kUs).AtLeast(0),
    Of<&ExpertTable::permute_efficiency>("move",
                                         "Bandwidth efficiency of permute and combine over the achievable bandwidth")
        .Above(0),
    Of<&ExpertTable::step_latency>("step_latency", "Lower bound on the time per 64 inputs of a tile")
        .In(kNs)
        .AtLeast(0),
    Of<&ExpertTable::bandwidth_gain>("stream",
                                     "Factor on the device's bandwidth efficiency, for weights, permute and combine")
        .Above(0),
    Of<&ExpertTable::kept_l2>("kept", "L2 capacities that keep half of the permuted and combined data").AtLeast(0),
    Of<&ExpertTable::routing_preference>(
        "preference", "Coefficient of variation, over the experts, of how often the tokens of a step choose them")
        .AtLeast(0),
    Of<&ExpertTable::trtllm>("trtllm", "What differs in TensorRT-LLM's kernels"),
    Of<&ExpertTable::flashinfer>("flashinfer", "What differs in those of FlashInfer and Triton")};
constinit const Fields Schema<ExpertTable>::fields(kExpertTableFields);

constexpr FieldRow kRowwiseTableFields[] = {
    Of<&RowwiseTable::source>("source", "Source of form and constants"),
    Of<&RowwiseTable::launch_factor>("launch", "Launch latency over a GEMM's").AtLeast(0),
    Of<&RowwiseTable::bandwidth_efficiency>("stream", "Fraction of the memory bandwidth").Share(),
    Of<&RowwiseTable::bytes_per_thread_clock>("lane_bytes", "Bytes per thread and clock; 0: no limit")
        .In(kB)
        .AtLeast(0),
    Of<&RowwiseTable::kept_l2>("kept", "L2 capacities that keep half of the operands between kernels").AtLeast(0),
    Of<&RowwiseTable::column_latency>("column_latency", "Latency per column of a block that walks one row")
        .In(kNs)
        .AtLeast(0)};
constinit const Fields Schema<RowwiseTable>::fields(kRowwiseTableFields);

constexpr FieldRow kRecurrenceTableFields[] = {
    Of<&RecurrenceTable::source>("source", "Source of form and constants"),
    Of<&RecurrenceTable::gemm_efficiency>("matrix", "Fraction of the GEMM peak").Share(),
    Of<&RecurrenceTable::vector_efficiency>("vector", "Fraction of the vector units' peak").Share(),
    Of<&RecurrenceTable::overlap>("overlap", "Exponent of the norm of compute and memory time").AtLeast(1)};
constinit const Fields Schema<RecurrenceTable>::fields(kRecurrenceTableFields);

constexpr FieldRow kStepTableFields[] = {
    Of<&StepTable::source>("source", "Source of the estimates"),
    Of<&StepTable::pair_launch>("pair_launch", "Launches of a pair of tensor-parallel collectives").In(kUs).AtLeast(0),
    Of<&StepTable::round_launch>("round_cost", "Launches of a round of a context-parallel ring").In(kUs).AtLeast(0),
    Of<&StepTable::ring_hidden>("ring_hidden", "Part of the attention core behind which a ring's transfers hide")
        .Between(0, 1),
    Of<&StepTable::quantize_launch>("quantize_launch", "Launch of a pass that quantizes an operand").In(kUs).AtLeast(0),
    Of<&StepTable::send_launch>("send_start", "Start of a send to another stage or pool while serving")
        .In(kUs)
        .AtLeast(0),
    Of<&StepTable::send_efficiency>("send_rate", "Fraction of the link bandwidth in such a send").Share(),
    Of<&StepTable::absorbed_gemm_efficiency>("absorbed_matrix",
                                             "Fraction of the peak in GEMMs that absorb an up-projection of MLA")
        .Share(),
    Of<&StepTable::active_power>("active_power",
                                 "Share of the TDP that a device draws while it runs kernels, whatever they do")
        .Between(0, 1)};
constinit const Fields Schema<StepTable>::fields(kStepTableFields);

constexpr FieldRow kLowLatencyRowFields[] = {
    Of<&LowLatencyRow::setup>("setup", "Fixed latency per call").In(kUs).AtLeast(0),
    Of<&LowLatencyRow::per_256_experts>("experts", "Latency of the counters of 256 experts").In(kUs).AtLeast(0),
    Of<&LowLatencyRow::link_efficiency>("link", "Fraction of the scale-up bandwidth").Share(),
    Of<&LowLatencyRow::nic_efficiency>("nic", "Fraction of the NIC bandwidth").Share(),
    Of<&LowLatencyRow::internode>("node", "Latency of leaving the node").In(kUs).AtLeast(0)};
constinit const Fields Schema<LowLatencyRow>::fields(kLowLatencyRowFields);

constexpr FieldRow kNormalRowFields[] = {
    Of<&NormalRow::setup>("setup", "Fixed latency per call").In(kUs).AtLeast(0),
    Of<&NormalRow::link_efficiency>("link", "Fraction of the scale-up bandwidth").Share(),
    Of<&NormalRow::sm_rate>("unit_rate", "Bandwidth per SM").In(kGBps).Above(0),
    Of<&NormalRow::nic_efficiency>("nic", "Fraction of the NIC bandwidth").Share(),
    Of<&NormalRow::per_node>("node", "Latency per node").In(kUs).AtLeast(0)};
constinit const Fields Schema<NormalRow>::fields(kNormalRowFields);

constexpr FieldRow kDomainRowFields[] = {
    Of<&DomainRow::setup>("setup", "Fixed latency per call").In(kUs).AtLeast(0),
    Of<&DomainRow::per_doubling>("step", "Latency per doubling of the ranks").In(kUs).AtLeast(0),
    Of<&DomainRow::link_efficiency>("link", "Fraction of the scale-up bandwidth").Share()};
constinit const Fields Schema<DomainRow>::fields(kDomainRowFields);

constexpr FieldRow kPeerReduceTableFields[] = {
    Of<&PeerReduceTable::source>("source", "Source of form and constants"),
    Of<&PeerReduceTable::start>("start", "Base latency").In(kUs).AtLeast(0),
    Of<&PeerReduceTable::peer>("peer", "Latency per peer (barrier)").In(kUs).AtLeast(0),
    Of<&PeerReduceTable::link_efficiency>("link", "Share of the link bandwidth").Share()};
constinit const Fields Schema<PeerReduceTable>::fields(kPeerReduceTableFields);

constexpr FieldRow kExpertExchangeTableFields[] = {
    Of<&ExpertExchangeTable::source>("source", "Source of form and constants"),
    Of<&ExpertExchangeTable::domain_source>("domain_source", "Source of the one-sided kernels"),
    Of<&ExpertExchangeTable::low_latency>("low_latency", "Low-latency kernels: one message per expert of each token"),
    Of<&ExpertExchangeTable::normal>("normal", "Normal kernels: one copy of a token per rank and node"),
    Of<&ExpertExchangeTable::domain>("domain", "One-sided kernels in one scale-up domain")};
constinit const Fields Schema<ExpertExchangeTable>::fields(kExpertExchangeTableFields);

constexpr FieldRow kKernelFamilyFields[] = {
    Of<&KernelFamily::preset>("preset", "Family; fields below override it"),
    Of<&KernelFamily::name>("name", "Name"),
    Of<&KernelFamily::traits>("traits", "Structure of the hardware"),
    Of<&KernelFamily::data_sheet>("data_sheet", "Rules for a device known by its data sheet alone"),
    Of<&KernelFamily::gemm>("gemm", "GEMMs"),
    Of<&KernelFamily::attention>("attention", "Attention cores"),
    Of<&KernelFamily::latent>("latent", "Multi-head latent attention"),
    Of<&KernelFamily::experts>("experts", "MoE layers"),
    Of<&KernelFamily::rowwise>("rowwise", "Norms, activations, softmax, residual additions"),
    Of<&KernelFamily::recurrence>("recurrence", "Recurrent layers"),
    Of<&KernelFamily::step>("step", "What surrounds the kernels of a step"),
    Of<&KernelFamily::peer_reduce>("peer_reduce", "All-reduce over peers' memory"),
    Of<&KernelFamily::expert_exchange>("expert_exchange", "Dispatch and combine kernels")};
constinit const Fields Schema<KernelFamily>::fields(kKernelFamilyFields);

}  // namespace slipstick
