#include "core/operators/kernel_family_fields.h"

#include "core/base/field_table.h"

namespace slipstick {

constexpr FieldRow kKernelTraitsFields[] = {
    Of<&KernelTraits::tiled>("tiled", "Many small units that take one output tile each; false: few large matrix engines"),
    Of<&KernelTraits::asynchronous_mma>("asynchronous_mma", "Matrix units are fed in the background"),
    Of<&KernelTraits::cached>("cached", "The last memory before DRAM is a cache; false: scratchpad that software fills"),
    Of<&KernelTraits::cache_feed>("cache_feed", "Out of the last cache into a unit, a clock").In(kB).Above(0),
    Of<&KernelTraits::cache_over_memory>("cache_over_memory", "Rate of the last memory before DRAM over the memory's, at least").AtLeast(0),
    Of<&KernelTraits::lanes>("lanes", "Threads that a unit issues for in a clock").AtLeast(1),
    Of<&KernelTraits::row_grain>("row_grain", "Rows that a matrix unit computes together").AtLeast(1),
    Of<&KernelTraits::query_rows>("query_rows", "Query rows that a decode kernel computes together").AtLeast(1)};
constinit const Fields Schema<KernelTraits>::fields(kKernelTraitsFields);

constexpr FieldRow kGemmRowFields[] = {
    Of<&GemmRow::matrix>("matrix", "Efficiency over that of the 16-bit kernels").Above(0),
    Of<&GemmRow::stream>("stream", "Memory stream over that of the 16-bit kernels").Above(0),
    Of<&GemmRow::step_latency>("step_latency", "Of 64 inputs of a tile, at least").In(kNs).AtLeast(0),
    Of<&GemmRow::splits>("splits", "Split-K exists"),
    Of<&GemmRow::columns_by_96>("columns_by_96", "Tiles of 96 and 192 columns exist"),
    Of<&GemmRow::quantize_bytes>("quantise_bytes", "Moved an activation element by the quantising pass").AtLeast(0),
    Of<&GemmRow::quantize_efficiency>("quantise_share", "Of the stream, reached by that pass").Above(0),
    Of<&GemmRow::extra>("extra", "Fixed cost of quantising, or of converting the weights").In(kUs).AtLeast(0),
    Of<&GemmRow::extra_few_rows>("extra_few_rows", "The same with few rows").In(kUs).AtLeast(0),
    Of<&GemmRow::always_extra>("always_extra", "That cost comes whoever quantises"),
    Of<&GemmRow::convert_per_clock>("convert_per_clock", "Weights converted a clock and unit; 0: none are").AtLeast(0)};
constinit const Fields Schema<GemmRow>::fields(kGemmRowFields);

constexpr FieldRow kCacheReuseFields[] = {
    Of<&CacheReuse::activations>("activations", "Last caches that keep half of the activations between kernels").AtLeast(0),
    Of<&CacheReuse::quantized>("quantised", "The same between a product and the pass that quantises for it").AtLeast(0),
    Of<&CacheReuse::least>("least", "Of the last cache, that weights used again may fill, at least").AtLeast(0),
    Of<&CacheReuse::most>("most", "The same, at most").AtLeast(0),
    Of<&CacheReuse::over_share>("over_share", "Share in which data read again is found, over what it adds to the least").Above(0),
    Of<&CacheReuse::fall>("fall", "From all weights found to none, of the last cache").Above(0),
    Of<&CacheReuse::missed_from>("missed_from", "Last caches from which no operand read again is found").Above(0),
    Of<&CacheReuse::read_again>("read_again", "Operands read again over what resident tiles need").AtLeast(0)};
constinit const Fields Schema<CacheReuse>::fields(kCacheReuseFields);

constexpr FieldRow kGemmTableFields[] = {
    Of<&GemmTable::source>("source", "Where form and constants are from"),
    Of<&GemmTable::sixteen_bit>("sixteen_bit", "Both operands in 16 bit"),
    Of<&GemmTable::fp8_tensor>("fp8_tensor", "Both in fp8, a scale a tensor"),
    Of<&GemmTable::fp8_block>("fp8_block", "Both in fp8, a scale a block"),
    Of<&GemmTable::four_bit_float>("four_bit_float", "Both in nvfp4 or mxfp4"),
    Of<&GemmTable::int8>("int8", "Both in int8"),
    Of<&GemmTable::int8_weights>("int8_weights", "Weights in 8 bit, converted"),
    Of<&GemmTable::int4_weights>("int4_weights", "Weights in 4 bit, converted"),
    Of<&GemmTable::few_rows>("few_rows", "Rows up to which kernels for few rows run").AtLeast(0),
    Of<&GemmTable::grouped_stream>("grouped_stream", "Stream of the weights of a group of products, over that of one").Above(0),
    Of<&GemmTable::power_ramp>("power_ramp", "Length of a kernel at which half of the fall of the rate has come").In(kMs).AtLeast(0),
    Of<&GemmTable::training_power_ramp>("training_power_ramp", "The same in a training step").In(kMs).AtLeast(0),
    Of<&GemmTable::training_launch>("training_launch", "Fixed cost of a kernel in a training step").In(kUs).AtLeast(0),
    Of<&GemmTable::serving_quantize>("serving_quantise", "Moved an activation element of fp8 inside a serving step").AtLeast(0),
    Of<&GemmTable::feed>("feed", "That asynchronous copies bring a unit in a clock").In(kB).AtLeast(0),
    Of<&GemmTable::tile_load>("tile_load", "Rows or columns of a tile that load as long as they compute").AtLeast(0),
    Of<&GemmTable::fill>("fill", "Of filling and draining a tile").In(kUs).AtLeast(0),
    Of<&GemmTable::merge>("merge", "Of the kernel that adds the partial sums of split-K").In(kUs).AtLeast(0),
    Of<&GemmTable::cache>("cache", "What one kernel leaves in the last cache for the next")};
constinit const Fields Schema<GemmTable>::fields(kGemmTableFields);

constexpr FieldRow kPowerClassFields[] = {
    Of<&PowerClass::above>("above", "Of devices whose power limit allows a FLOP more than this").In(kPJPerFlop).AtLeast(0),
    Of<&PowerClass::none>("none", "Energy of a FLOP from which nothing falls").In(kPJPerFlop).Above(0),
    Of<&PowerClass::least>("least", "Time over that of a short kernel, at least").AtLeast(1),
    Of<&PowerClass::most>("most", "The same, at most").AtLeast(1)};
constinit const Fields Schema<PowerClass>::fields(kPowerClassFields);

constexpr FieldRow kLaunchFromFields[] = {Of<&LaunchFrom::year>("year", "Announced in this year or later"),
                                          Of<&LaunchFrom::launch>("launch", "Fixed cost of a kernel").In(kUs).AtLeast(0)};
constinit const Fields Schema<LaunchFrom>::fields(kLaunchFromFields);

constexpr FieldRow kDecodeOfMemoryFields[] = {Of<&DecodeOfMemory::technology>("technology", "Part of the memory's name; empty: any"),
                                              Of<&DecodeOfMemory::share>("share", "Of the memory bandwidth").Above(0).AtMost(1)};
constinit const Fields Schema<DecodeOfMemory>::fields(kDecodeOfMemoryFields);

constexpr FieldRow kRuleTextsFields[] = {Of<&RuleTexts::gemm_efficiency>("matrix", "What an explanation says"),
                                         Of<&RuleTexts::gemm_efficiency_fp8>("matrix_fp8", "What an explanation says"),
                                         Of<&RuleTexts::clock_derating>("power_fall", "What an explanation says"),
                                         Of<&RuleTexts::sustained_clock_derating>("sustained_fall", "What an explanation says"),
                                         Of<&RuleTexts::rated_power>("rated_power", "What an explanation says"),
                                         Of<&RuleTexts::bandwidth_efficiency>("stream", "What an explanation says"),
                                         Of<&RuleTexts::launch_latency>("launch", "What an explanation says"),
                                         Of<&RuleTexts::attention_forward>("attention_forward", "What an explanation says"),
                                         Of<&RuleTexts::attention_backward>("attention_backward", "What an explanation says"),
                                         Of<&RuleTexts::decode_bandwidth_efficiency>("decode_stream", "What an explanation says"),
                                         Of<&RuleTexts::l2_bandwidth>("cache_stream", "What an explanation says"),
                                         Of<&RuleTexts::usable_l2_fraction>("cache_share", "What an explanation says"),
                                         Of<&RuleTexts::usable>("usable", "What an explanation says")};
constinit const Fields Schema<RuleTexts>::fields(kRuleTextsFields);

constexpr FieldRow kDataSheetRulesFields[] = {
    Of<&DataSheetRules::matrix_least>("matrix_least", "Share of the dense peak, at least").Above(0).AtMost(1),
    Of<&DataSheetRules::matrix_most>("matrix_most", "The same, at most").Above(0).AtMost(1),
    Of<&DataSheetRules::matrix_energy>("matrix_energy", "Energy of a FLOP from which it is the most").In(kPJPerFlop).Above(0),
    Of<&DataSheetRules::matrix_fp8>("matrix_fp8", "Share of an fp8 product over that of a 16-bit one").Above(0).AtMost(1),
    Of<&DataSheetRules::clock_derating>("power_fall", "Of a long kernel"),
    Of<&DataSheetRules::sustained>("sustained", "Of a training step; the first that holds"),
    Of<&DataSheetRules::sustained_clock_derating>("sustained_fall", "In place of them").AtLeast(0),
    Of<&DataSheetRules::stream_least>("stream_least", "Share of the memory bandwidth, at least").Above(0).AtMost(1),
    Of<&DataSheetRules::stream_most>("stream_most", "The same, at most").Above(0).AtMost(1),
    Of<&DataSheetRules::stream_bandwidth>("stream_bandwidth", "From which it is the least").In(kGBps).Above(0),
    Of<&DataSheetRules::launch>("launch", "Fixed cost of a kernel; the first that holds"),
    Of<&DataSheetRules::decode_stream>("decode_stream", "Share of the memory bandwidth in decode attention; the first that fits"),
    Of<&DataSheetRules::attention_forward>("attention_forward", "Flash attention forward in training, share of the dense peak")
        .Above(0)
        .AtMost(1),
    Of<&DataSheetRules::attention_backward>("attention_backward", "The same backward").Above(0).AtMost(1),
    Of<&DataSheetRules::attention_exponentials>("attention_exponentials", "Share of the exponentials that the matrix work does not hide")
        .Between(0, 1),
    Of<&DataSheetRules::cache_over_memory>("cache_over_memory", "Rate at which attention reads the last cache, over the memory bandwidth")
        .Above(0),
    Of<&DataSheetRules::cache_least>("cache_least", "The same, at least").In(kTBps).Above(0),
    Of<&DataSheetRules::cache_share>("cache_share", "Share of the last cache in which data read again is found").Above(0).AtMost(1),
    Of<&DataSheetRules::usable>("usable", "Of the nominal size, read as GiB").Above(0).AtMost(1),
    Of<&DataSheetRules::texts>("texts", "What explanations say of each rule")};
constinit const Fields Schema<DataSheetRules>::fields(kDataSheetRulesFields);

constexpr FieldRow kExpertRowFields[] = {
    Of<&ExpertRow::launch>("launch", "Fixed cost of the layer's kernels").In(kUs).AtLeast(0),
    Of<&ExpertRow::move>("move", "Of the stream, reached by permuting and combining").Above(0),
    Of<&ExpertRow::matrix>("matrix", "Efficiency over that of the 16-bit kernels").Above(0),
    Of<&ExpertRow::step_latency>("step_latency", "Of 64 inputs of a tile, at least").In(kNs).AtLeast(0),
    Of<&ExpertRow::stream>("stream", "Of the weights, over the stream").Above(0)};
constinit const Fields Schema<ExpertRow>::fields(kExpertRowFields);

constexpr FieldRow kExpertKernelsFields[] = {Of<&ExpertKernels::sixteen_bit>("sixteen_bit", "Both operands in 16 bit"),
                                             Of<&ExpertKernels::fp8_tensor>("fp8_tensor", "Both in fp8, a scale a tensor"),
                                             Of<&ExpertKernels::fp8_block>("fp8_block", "Both in fp8, a scale a block"),
                                             Of<&ExpertKernels::four_bit_float>("four_bit_float", "Both in nvfp4 or mxfp4"),
                                             Of<&ExpertKernels::eight_by_four>("eight_by_four", "Activations in 8 bit, weights in 4"),
                                             Of<&ExpertKernels::int8>("int8", "Both in int8"),
                                             Of<&ExpertKernels::int8_weights>("int8_weights", "Weights in 8 bit, converted"),
                                             Of<&ExpertKernels::int4_weights>("int4_weights", "Weights in 4 bit, converted")};
constinit const Fields Schema<ExpertKernels>::fields(kExpertKernelsFields);

constexpr FieldRow kServingExpertsFields[] = {
    Of<&ServingExperts::four_bit_matrix>("four_bit_matrix", "Efficiency of a 4-bit kernel over that of the 16-bit ones").Above(0),
    Of<&ServingExperts::four_bit_move>("four_bit_move", "Of the stream, reached by permuting and combining around it").Above(0),
    Of<&ServingExperts::fp8_move>("fp8_move", "The same around an fp8 kernel").Above(0),
    Of<&ServingExperts::narrow_step>("narrow_step", "Of 64 inputs of a tile in 8 and 4 bit, at least").In(kNs).AtLeast(0),
    Of<&ServingExperts::spread>("spread", "Rows that count when experts are hit by chance").Above(0).AtMost(1)};
constinit const Fields Schema<ServingExperts>::fields(kServingExpertsFields);

constexpr FieldRow kExpertTableFields[] = {
    Of<&ExpertTable::source>("source", "Where form and constants are from"),
    Of<&ExpertTable::trtllm>("trtllm", "TensorRT-LLM; complete"),
    Of<&ExpertTable::flashinfer>("flashinfer", "FlashInfer and Triton"),
    Of<&ExpertTable::stream>("stream", "Over the device's own, of weights and moves").Above(0),
    Of<&ExpertTable::kept>("kept", "Last caches that keep half of what is permuted and combined").AtLeast(0),
    Of<&ExpertTable::serving>("serving", "What differs inside a serving step")};
constinit const Fields Schema<ExpertTable>::fields(kExpertTableFields);

constexpr FieldRow kRowwiseRowFields[] = {
    Of<&RowwiseRow::launch>("launch", "Over a matrix product's").AtLeast(0),
    Of<&RowwiseRow::stream>("stream", "Share of the memory bandwidth").Above(0).AtMost(1),
    Of<&RowwiseRow::lane_bytes>("lane_bytes", "That a lane moves a clock; 0: no limit").In(kB).AtLeast(0),
    Of<&RowwiseRow::kept>("kept", "Last caches that keep half of the operands between kernels").AtLeast(0),
    Of<&RowwiseRow::column_latency>("column_latency", "Of a block that walks one row").In(kNs).AtLeast(0)};
constinit const Fields Schema<RowwiseRow>::fields(kRowwiseRowFields);

constexpr FieldRow kRowwiseTableFields[] = {Of<&RowwiseTable::source>("source", "Where form and constants are from"),
                                            Of<&RowwiseTable::norm>("norm", "Norms"),
                                            Of<&RowwiseTable::rope>("rope", "Rotary embedding"),
                                            Of<&RowwiseTable::add>("add", "Residual additions"),
                                            Of<&RowwiseTable::gelu>("gelu", "Activations"),
                                            Of<&RowwiseTable::gated_gelu>("gated_gelu", "Activations with a gate"),
                                            Of<&RowwiseTable::softmax>("softmax", "Softmax")};
constinit const Fields Schema<RowwiseTable>::fields(kRowwiseTableFields);

constexpr FieldRow kLowLatencyRowFields[] = {
    Of<&LowLatencyRow::setup>("setup", "Of a call").In(kUs).AtLeast(0),
    Of<&LowLatencyRow::experts>("experts", "Of 256 experts' counters").In(kUs).AtLeast(0),
    Of<&LowLatencyRow::link>("link", "Share of the scale-up link").Above(0).AtMost(1),
    Of<&LowLatencyRow::nic>("nic", "Share of the NIC").Above(0).AtMost(1),
    Of<&LowLatencyRow::node>("node", "Of leaving the node").In(kUs).AtLeast(0),
    Of<&LowLatencyRow::cast>("cast", "Of quantising a token of 4,096 elements").In(kUs).AtLeast(0)};
constinit const Fields Schema<LowLatencyRow>::fields(kLowLatencyRowFields);

constexpr FieldRow kNormalRowFields[] = {Of<&NormalRow::setup>("setup", "Of a call").In(kUs).AtLeast(0),
                                         Of<&NormalRow::link>("link", "Share of the scale-up link").Above(0).AtMost(1),
                                         Of<&NormalRow::unit_rate>("unit_rate", "Of one SM").In(kGBps).Above(0),
                                         Of<&NormalRow::nic>("nic", "Share of the NIC").Above(0).AtMost(1),
                                         Of<&NormalRow::node>("node", "Of a further node").In(kUs).AtLeast(0)};
constinit const Fields Schema<NormalRow>::fields(kNormalRowFields);

constexpr FieldRow kDomainRowFields[] = {
    Of<&DomainRow::setup>("setup", "Of a call").In(kUs).AtLeast(0),
    Of<&DomainRow::step>("step", "Of a doubling of the ranks").In(kUs).AtLeast(0),
    Of<&DomainRow::link>("link", "Share of the scale-up link").Above(0).AtMost(1),
    Of<&DomainRow::own_cost>("own_cost", "Of a byte that stays, over one at the link's full bandwidth").AtLeast(0)};
constinit const Fields Schema<DomainRow>::fields(kDomainRowFields);

constexpr FieldRow kExpertExchangeTableFields[] = {
    Of<&ExpertExchangeTable::source>("source", "Where form and constants are from"),
    Of<&ExpertExchangeTable::domain_source>("domain_source", "The same of one-sided kernels"),
    Of<&ExpertExchangeTable::low_latency_dispatch>("low_latency_dispatch", "A message for each expert of each token"),
    Of<&ExpertExchangeTable::low_latency_combine>("low_latency_combine", "The same, back"),
    Of<&ExpertExchangeTable::normal_dispatch>("normal_dispatch", "A token once to each rank and node"),
    Of<&ExpertExchangeTable::normal_combine>("normal_combine", "The same, back"),
    Of<&ExpertExchangeTable::domain_dispatch>("domain_dispatch", "One-sided kernels in one scale-up domain"),
    Of<&ExpertExchangeTable::domain_combine>("domain_combine", "The same, back")};
constinit const Fields Schema<ExpertExchangeTable>::fields(kExpertExchangeTableFields);

constexpr FieldRow kKernelFamilyFields[] = {Of<&KernelFamily::preset>("preset", "Family that the other members override"),
                                            Of<&KernelFamily::name>("name", "What to call it"),
                                            Of<&KernelFamily::traits>("traits", "What its units are like"),
                                            Of<&KernelFamily::data_sheet>("data_sheet", "Rules for a device known by its data sheet only"),
                                            Of<&KernelFamily::gemm>("gemm", "Matrix products"),
                                            Of<&KernelFamily::attention>("attention", "Attention cores"),
                                            Of<&KernelFamily::latent>("latent", "Latent attention"),
                                            Of<&KernelFamily::experts>("experts", "Layers of experts"),
                                            Of<&KernelFamily::rowwise>("rowwise", "Norms, activations, softmax, residual additions"),
                                            Of<&KernelFamily::expert_exchange>("expert_exchange", "Dispatch and combine kernels")};
constinit const Fields Schema<KernelFamily>::fields(kKernelFamilyFields);

}  // namespace slipstick
