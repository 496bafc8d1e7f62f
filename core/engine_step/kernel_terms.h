// Where callers that name their terms meet the parts of a step whose numbers remember: deployments get the nodes of
// what a trace knows them by, and figures the names that callers find them under. It goes when no caller names its terms
// any more.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/layer_parts.h"
#include "core/engine_step/step.h"

namespace slipstick {

// The deployment with the nodes of its inputs and of the figures that it was made of; of a trace that is off the
// deployment itself. Its memory for KV cache and its sessions are not followed.
const Deployment& Named(const Deployment& deployment, Trace& trace);
// Names: sequences, tokens, cached; sequences, context, checked, grown.
PrefillPass Named(const PrefillPass& pass, Trace& trace);
DecodePass Named(const DecodePass& pass, Trace& trace);

// Passes of engines with a composition of their own. Figures: step_time; of a prefill pass_time, occupancy, fixed_time.
PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace);
PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace);

// Their figures: encoder_weights; head, with that of the same name before.
Bytes EncoderWeights(const Deployment& deployment, Trace& trace);
Seconds WithImages(const Deployment& deployment, double prompts, std::string_view prompts_are, double tokens,
                   Seconds head, OperatorBreakdown& operators, Trace& trace);

// The figure host_rate. Name: host_link.
BytesPerSecond RateOfCopies(BytesPerSecond host_link, const Engine& engine, Trace& trace);

// Their figures: host_layers, host_weights; mean_experts, of on_device, whose figures are time, flops and bytes. Name:
// rows.
double HostLayers(const Deployment& deployment, Trace& trace);
Bytes HostWeights(const Deployment& deployment, Trace& trace);
Seconds TimeHostExperts(const Deployment& deployment, double rows, const KernelTime& on_device, std::string_view name,
                        const Adder& add, Trace& trace);

// Their figures: adapter_weights; time, flops and bytes of the adapters, and adapter_time. Name: rows.
Bytes AdapterWeights(const Deployment& deployment, Trace& trace);
KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, double rows, Trace& trace);

// The figure imbalance.
double ImbalanceOf(const Deployment& deployment, Trace& trace);

// Their figures: time, flops and bytes, and mean_attention of decode. Names: those of a pass.
KernelTime PrefillAttention(const Deployment& deployment, double sequences, double tokens, double cached, double window,
                            Trace& trace);
KernelTime MeanDecodeAttention(const Deployment& deployment, double sequences, double context, double grown,
                               double checked, double window, Trace& trace);
KernelTime PrefillRecurrence(const Deployment& deployment, double sequences, double tokens, Trace& trace);
KernelTime DecodeRecurrence(const Deployment& deployment, double sequences, double checked, Trace& trace);
// Name: held_tokens.
BytesPerToken CompressedGrowth(const Deployment& deployment, Trace& trace);
Bytes CompressedFixed(const Deployment& deployment, double held_tokens, Trace& trace);

// The figure that serving calls it (served_product.h). Name: rows.
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace);
// Names: rows, held_tokens.
KernelTime TimeExperts(const Deployment& deployment, double rows, double held_tokens, Trace& trace);

}  // namespace slipstick
