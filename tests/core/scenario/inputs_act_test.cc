// Every input that `describe` lists moves a figure in one of these scenarios, or its help, or that of an object above
// it, says that no figure uses it.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "tests/core/scenario/moved_inputs.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

const Assignments kFlat{"training.mapping.tp=1", "training.mapping.pp=1", "training.mapping.virtual_stages=1",
                        "training.mapping.sequence_parallel=false"};
const Assignments kOneStage{"training.mapping.tp=2", "training.mapping.pp=1", "training.mapping.virtual_stages=1"};
const Assignments kPostTraining{"model=llama-3.1-8b",
                                "cluster=dgx-h100",
                                "cluster.devices=16",
                                "training.sequence=4096",
                                "training.global_batch=512",
                                "training.mapping.tp=1",
                                "training.mapping.pp=2",
                                "training.mapping.virtual_stages=1",
                                "training.mapping.sequence_parallel=false",
                                "serving.mapping.tp=1",
                                "serving.prompt=128",
                                "serving.output=1024",
                                "post_training.max_response=2048"};
const Assignments kServingOnly{"training=null"};
const Assignments kPools = Assignments{"model=llama-3.1-8b",
                                       "cluster=dgx-h100",
                                       "cluster.devices=16",
                                       "training=null",
                                       "serving.mapping.tp=2",
                                       "serving.devices=null",
                                       "serving.disaggregated.prefill_devices=2",
                                       "serving.disaggregated.decode_devices=4"};
// Pools so large that a prefill pool with its own device needs switches.
Assignments LargePools(const std::string& devices) {
  return {"model=llama-3.1-8b",
          "cluster=dgx-h100",
          "cluster.devices=16384",
          "cluster.networks.1.topology=fat_tree",
          "training=null",
          "serving.mapping.tp=2",
          "serving.devices=null",
          "serving.disaggregated.prefill_devices=" + devices,
          "serving.disaggregated.decode_devices=" + devices,
          "serving.disaggregated.prefill_device.preset=l4",
          "cost.prefill_pool.system.switch_ports=16"};
}
const Assignments kStoredWeights{"training=null",
                                 "serving.engine=llamacpp-2025",
                                 "serving.mapping.tp=1",
                                 "cluster=single-dgx-spark",
                                 "serving.precision.weights=mxfp4",
                                 "serving.precision.activations=fp16"};
const Assignments kLlamaCpp{"training=null", "serving.engine=llamacpp", "serving.mapping.tp=1", "serving.batch=1"};

// These scenarios use every part of the field tables.
const std::vector<Assignments>& Scenarios() {
  static const std::vector<Assignments> all{
      {"model=gpt-oss-120b", "cluster=hgx-mi300x", "training=null", "serving.devices=8", "serving.mapping.tp=8",
       "serving.tuning=stock"},
      {"model=llama-3.1-8b", "cluster=hgx-mi300x", "training=null", "serving.devices=1", "serving.mapping.tp=1",
       "serving.tuning=stock"},
      {"model=llama-3.1-8b", "cluster=single-h100-sxm5-80gb", "training=null", "serving.engine=sglang",
       "serving.concurrency=16", "serving.tuning=stock"},
      // More requests than vLLM runs at once on a card with 24 GB.
      {"model=qwen3-0.6b", "cluster=single-rtx-4090", "training=null", "serving.engine=vllm", "serving.prompt=100",
       "serving.output=100", "serving.concurrency=500", "serving.tuning=stock"},
      {"model=llama-3.1-8b", "cluster=single-a100-sxm4-80gb", "training=null", "serving.engine=vllm",
       "serving.concurrency=64"},
      {"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64", "training.mapping.pp=2",
       "training.mapping.virtual_stages=4", "training.mapping.cp=2", "training.global_batch=64"},
      {"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=256", "training.precision=fp8",
       "training.recompute=full", "training.mapping.tp=4", "training.mapping.pp=8", "training.mapping.virtual_stages=1",
       "training.mapping.ep=8", "training.global_batch=512", "serving.engine=sglang", "serving.devices=16",
       "serving.mapping.tp=8", "serving.mapping.attention_dp=2", "serving.mapping.ep=16"},
      {"model=mixtral-8x7b", "cluster=dgx-b200", "cluster.devices=64", "training.precision=mxfp8",
       "training.recompute=selective", "training.mapping.tp=2", "training.mapping.pp=2",
       "training.mapping.virtual_stages=1", "training.mapping.ep=4", "training.global_batch=64",
       "training.documents.length=300", "training.offload.optimizer=0.5", "model.moe.capacity_factor=1.2",
       "serving.engine=trtllm", "serving.precision.weights=nvfp4", "serving.precision.activations=nvfp4",
       "serving.mapping.tp=4", "serving.requests_per_s=2"},
      Assignments{"model=llama-3.2-1b", "cluster=dgx-h100", "cluster.devices=16", "training.framework=fsdp",
                  "training.offload.optimizer=0.5", "training.offload.activations=0.5", "training.batch_ramp.start=16",
                  "training.batch_ramp.tokens=1e9", "training.global_batch=64", "serving.engine=trtllm-0.9",
                  "serving.speculative.draft_tokens=3", "serving.mapping.tp=1", "serving.devices=1",
                  "serving.batch=2000", "serving.kv_offload.capacity=100e9"} +
          kFlat + Assignments{"training.mapping.zero=3"},
      Assignments{"model=llama-3.2-1b", "cluster=dgx-h100", "cluster.devices=8", "training.framework=composer",
                  "training.loss_in_place=true"},
      Assignments{"model=llama-3.1-8b", "cluster=dgx-a100", "cluster.devices=8", "training.framework=fsdp-eager",
                  "training.trainable=lora", "training.flash_attention=false", "training.global_batch=8",
                  "training.sequence=2048", "serving.engine=fastertransformer", "serving.concurrency=100",
                  "serving.waves=2", "serving.mapping.tp=2"} +
          kFlat + Assignments{"training.mapping.zero=3"},
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=16", "training.framework=roofline",
                  "serving.engine=roofline", "training.global_batch=64", "serving.mapping.tp=2", "serving.devices=2"} +
          kOneStage,
      kServingOnly + Assignments{"model=kimi-linear-48b-a3b", "cluster=dgx-h100", "serving.mapping.tp=4",
                                 "serving.devices=4", "cost.rental=coreweave-h100-on-demand"},
      kServingOnly + Assignments{"model=qwen3-next-80b-a3b", "cluster=dgx-h200", "serving.engine=sglang",
                                 "serving.mapping.tp=2", "serving.devices=2", "serving.concurrency=1000"},
      kServingOnly +
          Assignments{"model=llama-3.1-8b", "cluster=single-l40s", "serving.mapping.tp=1"},  // not a large device
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=gaudi2-hls2", "serving.engine=gaudi",
                                 "serving.mapping.tp=2", "serving.devices=2"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=trn1-32xlarge", "serving.engine=neuron",
                                 "serving.mapping.tp=8", "serving.devices=8", "serving.prompt=8192",
                                 "serving.precision.weights=bf16", "serving.precision.activations=bf16"},
      kLlamaCpp + Assignments{"model=llama-3.1-8b", "cluster=single-a40"},  // in-line ECC
      kLlamaCpp + Assignments{"model=llama-3.1-8b", "cluster=single-rtx-4090", "cluster.devices=4",
                              "serving.mapping.pp=4", "serving.devices=4", "serving.precision.weights=q4_k_m"},
      kLlamaCpp + Assignments{"model=llama-3.1-70b", "cluster=single-a6000", "cluster.devices=4",
                              "serving.mapping.pp=4", "serving.devices=4", "serving.precision.weights=q4_k_m"},
      kLlamaCpp + Assignments{"model=llama-3.1-70b", "cluster=single-a6000", "cluster.devices=4",
                              "serving.mapping.pp=4", "serving.devices=4", "serving.precision.weights=fp16"},
      kLlamaCpp + Assignments{"model=llama-3.2-1b", "cluster=single-m2-ultra", "serving.devices=1",
                              "serving.precision.weights=q4_k_m"},
      kStoredWeights + Assignments{"model=gpt-oss-20b", "serving.batch=1"},
      kStoredWeights + Assignments{"model=gpt-oss-20b", "serving.batch=8"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=l4", "serving.requests_per_s=3"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=rtx-4090"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=a100-sxm4-80gb",
                           "serving.precision.activations=int4"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=b200-sxm",
                           "serving.disaggregated.prefill_mapping.tp=1", "serving.precision.activations=nvfp4",
                           "serving.precision.weights=nvfp4"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=h100-sxm5-80gb",
                           "serving.disaggregated.prefill_mapping.tp=1"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=v100-sxm2-32gb",
                           "serving.disaggregated.prefill_mapping.tp=2", "serving.precision.activations=fp16",
                           "serving.precision.weights=fp16"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=tpu-v4", "serving.precision.activations=fp32"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=a100-sxm4-80gb",
                           "serving.precision.activations=tf32"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=a100-sxm4-80gb",
                           "serving.precision.activations=int8"},
      kPools + Assignments{"serving.disaggregated.prefill_device.design.area=600 mm^2"},
      kPools + Assignments{"model=mixtral-8x7b", "serving.disaggregated.prefill_devices=4",
                           "serving.disaggregated.prefill_mapping.tp=2",
                           "serving.disaggregated.prefill_mapping.attention_dp=2",
                           "serving.disaggregated.prefill_mapping.ep=4"},
      kServingOnly + Assignments{"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=64", "serving.devices=null",
                                 "serving.engine=sglang", "serving.batch=8192", "serving.prompt=2000",
                                 "serving.output=16", "serving.precision.weights=fp8",
                                 "serving.precision.activations=fp8", "serving.mapping.tp=1",
                                 "serving.mapping.attention_dp=32", "serving.mapping.ep=32",
                                 "serving.disaggregated.prefill_devices=32", "serving.disaggregated.decode_devices=32",
                                 "serving.disaggregated.prefill_mapping.attention_dp=32",
                                 "serving.disaggregated.prefill_mapping.ep=32"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=l4", "serving.precision.activations=fp8"},
      kPools + Assignments{"model=mixtral-8x7b", "serving.disaggregated.prefill_devices=4",
                           "serving.disaggregated.prefill_mapping.tp=1",
                           "serving.disaggregated.prefill_mapping.attention_dp=2"},
      kPools + Assignments{"serving.disaggregated.prefill_device.design.preset=a100-like",
                           "serving.disaggregated.prefill_device.design.power=2000 W",
                           "serving.disaggregated.prefill_device.design.dram.package_area=100 mm^2",
                           "serving.precision.activations=tf32"},
      kPools + Assignments{"serving.disaggregated.prefill_device.design.preset=a100-like",
                           "serving.precision.activations=int8"},
      kPools + Assignments{"serving.disaggregated.prefill_device.design.preset=h100-like",
                           "serving.precision.activations=fp8"},
      kPools + Assignments{"serving.disaggregated.prefill_device.design.preset=h100-like",
                           "serving.precision.activations=fp32"},
      kPools + Assignments{"serving.disaggregated.prefill_device.design.preset=h100-like",
                           "serving.disaggregated.prefill_device.design.unit.fp4=8",
                           "serving.precision.activations=nvfp4", "serving.precision.weights=nvfp4"},
      Assignments{"model=qwen3-next-80b-a3b", "cluster=dgx-h100", "cluster.devices=16", "training.mapping.ep=4",
                  "training.global_batch=64"} +
          kOneStage,
      Assignments{"model=jamba-v0.1", "cluster=dgx-h100", "cluster.devices=16", "training.global_batch=64"} + kOneStage,
      Assignments{"model=llama-3.2-1b", "cluster=single-l4", "cluster.devices=2", "training.framework=ideal",
                  "training.global_batch=4", "training.sequence=1024", "serving.mapping.tp=1", "serving.devices=1"} +
          kFlat,
      Assignments{"model=llama-3.1-70b", "cluster=dgx-h100", "cluster.devices=64", "training.mapping.tp=8",
                  "training.mapping.pp=4", "training.mapping.micro_batch=4", "training.mapping.zero=1",
                  "training.mapping.sequence_parallel=true", "training.global_batch=64", "training.recompute=auto",
                  "training.memory_margin=0.1", "serving=null"},
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64", "cluster.device.design.area=700 mm^2",
                  "training.global_batch=64"} +
          kOneStage,
      // The power is too low for all units at the lowest voltage.
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64",
                  "cluster.device.design.preset=a100-like", "cluster.device.design.power=80 W",
                  "training.global_batch=64", "serving=null"} +
          kOneStage,
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64",
                  "cluster.device.design.preset=a100-like", "cluster.device.design.power=2000 W",
                  "cluster.device.design.power=2000 W", "training.precision=tf32", "training.global_batch=64",
                  "serving.precision.activations=int8", "serving.precision.weights=int8"} +
          kOneStage,
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64",
                  "cluster.device.design.preset=h100-like", "cluster.device.design.unit.fp4=8",
                  "cluster.device.design.dram.package_area=100 mm^2", "training.precision=fp32",
                  "training.global_batch=64", "serving.precision.activations=nvfp4",
                  "serving.precision.weights=nvfp4"} +
          kOneStage,
      kServingOnly + Assignments{"model=gemma-4-e2b", "cluster=single-h100-sxm5-80gb", "serving.mapping.tp=1",
                                 "serving.devices=1"},
      kServingOnly + Assignments{"model=deepseek-v4-flash", "cluster=dgx-b200", "serving.precision.weights=mxfp4",
                                 "serving.precision.kv_cache=fp8", "serving.prompt=4096"},
      kServingOnly + Assignments{"model=minimax-m3", "cluster=dgx-h200", "serving.prompt=4096"},
      kServingOnly + Assignments{"model=kimi-k2.5", "cluster=dgx-h200", "serving.devices=8", "serving.mapping.tp=8",
                                 "serving.precision.weights=int4", "serving.precision.activations=bf16"},
      kServingOnly + Assignments{"version=2", "model=gpt-oss-20b", "cluster=single-h100-sxm5-80gb"},
      Assignments{"model=gpt-oss-20b", "cluster=hgx-mi300x", "cluster.devices=8", "training.mapping.ep=8",
                  "training.global_batch=64", "serving.precision.weights=mxfp4", "serving.precision.activations=bf16",
                  "serving.mapping.tp=1", "serving.devices=1"} +
          kFlat,
      Assignments{"model=llama-3.1-8b", "cluster=tpu-v5p-pod", "cluster.devices=64", "training.framework=xla",
                  "training.global_batch=64", "serving=null"} +
          kOneStage + Assignments{"training.mapping.zero=3"},
      Assignments{"model=gpt3-6.7b", "cluster=dgx-v100", "cluster.devices=16", "training.precision=fp16",
                  "training.global_batch=16", "training.sequence=2048", "serving.precision.weights=int8",
                  "serving.precision.activations=int8", "serving.prompt=512"} +
          kOneStage,
      Assignments{"model=llama-3.1-70b", "cluster=gb200-nvl72", "cluster.devices=144", "training.precision=nvfp4",
                  "training.global_batch=72", "serving.engine=trtllm", "serving.precision.weights=nvfp4",
                  "serving.precision.activations=nvfp4"} +
          kOneStage,
      {"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=1024", "training.precision=fp8",
       "training.recompute=full", "training.mapping.tp=1", "training.mapping.pp=8", "training.mapping.virtual_stages=1",
       "training.mapping.ep=64", "training.framework.preset=megatron", "training.framework.experts.dispatch=dedicated",
       "training.global_batch=1024", "serving=null"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=single-a100-sxm4-80gb",
                                 "serving.precision.activations=int4", "serving.precision.weights=int4",
                                 "serving.mapping.tp=1", "serving.devices=1"},
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64",
                  "cluster.networks.1.topology=fat_tree", "training.global_batch=64", "serving=null",
                  "cost.system.switch_ports=16"} +
          kOneStage,
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=16384",
                  "cluster.networks.1.topology=fat_tree", "training.global_batch=8192", "serving=null",
                  "cost.system.switch_ports=16"} +
          kOneStage,
      Assignments{"model=mixtral-8x7b", "cluster=single-rtx-pro-6000", "cluster.devices=4",
                  "cluster.networks.0.fabric=pcie", "training.mapping.ep=4", "training.global_batch=8",
                  "serving.mapping.tp=2", "serving.mapping.attention_dp=2", "serving.mapping.ep=4",
                  "serving.devices=4"} +
          kFlat,
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8", "serving.devices=4",
                                 "serving.mapping.tp=1", "serving.engine=vllm", "serving.requests_per_s=20",
                                 "serving.simulate.requests=50", "serving.engine.collect_steps=8",
                                 "serving.arrivals.kind=gamma", "serving.lengths.prompt.kind=uniform",
                                 "serving.lengths.output.kind=lognormal"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8", "serving.devices=4",
                                 "serving.mapping.tp=1", "serving.engine=sglang", "serving.concurrency=20",
                                 "serving.simulate.requests=50", "serving.lengths=azure-conversation-2023"},
      kServingOnly + Assignments{"model=deepseek-v3.2", "cluster=dgx-h100", "cluster.devices=8", "serving.mapping.tp=8",
                                 "serving.engine=sglang", "serving.precision.weights=fp8", "serving.prompt=8192",
                                 "serving.batch=4"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=single-h100-sxm5-80gb", "serving.mapping.tp=1",
                                 "serving.engine=vllm", "serving.batch=4", "serving.prefix_hit=0.5",
                                 "serving.prefix_cache.host_share=0.4", "serving.prefix_cache.ssd_share=0.3",
                                 "serving.prefix_cache.prefixes=200", "serving.prefix_cache.ssd_capacity=12 GB",
                                 "serving.adapters.resident=16", "serving.speculative=eagle-3-llama-3.1-8b"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=single-h100-sxm5-80gb", "serving.mapping.tp=1",
                                 "serving.engine=sglang", "serving.batch=4", "serving.prefix_hit=0.5",
                                 "serving.prefix_cache.host_share=0.5"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=single-h100-sxm5-80gb", "serving.mapping.tp=1",
                                 "serving.engine=vllm", "serving.concurrency=128", "serving.sessions.turns=8",
                                 "serving.sessions.system_prompt=2000", "serving.sessions.added=1000",
                                 "serving.sessions.gap=30 s", "serving.prefix_cache.host_capacity=5 GB"},
      kServingOnly + Assignments{"model=deepseek-v3", "cluster=dgx-h200", "cluster.devices=8", "serving.devices=8",
                                 "serving.mapping.tp=8", "serving.engine=trtllm", "serving.precision.weights=fp8",
                                 "serving.precision.activations=fp8"},
      kServingOnly + Assignments{"model=llama-3.1-8b", "cluster=single-h200-sxm", "serving.mapping.tp=1",
                                 "serving.engine=trtllm", "serving.batch=300",
                                 R"(serving.engine.graph_sizes=[{"up_to": 384, "every": 128}])"},
      kServingOnly + Assignments{"model=gpt-oss-20b", "cluster=single-rtx-4090", "serving.mapping.tp=1",
                                 "serving.engine=llamacpp-2025", "serving.precision.weights=mxfp4",
                                 "serving.precision.activations=fp16", "serving.batch=1",
                                 "serving.host_experts.layers=12"},
      kServingOnly + Assignments{"model=qwen3-vl-8b", "cluster=single-h100-sxm5-80gb", "serving.mapping.tp=1",
                                 "serving.engine=vllm", "serving.batch=4", "serving.prompt=8192",
                                 "serving.images.count=2", "serving.images.width=1536", "serving.images.height=1024"},
      kServingOnly + Assignments{"model=llada2.0-mini", "cluster=single-h100-sxm5-80gb", "serving.mapping.tp=1",
                                 "serving.engine=sglang", "serving.batch=4", "serving.block_diffusion.block=32"},
      // Several chips on a board, and chiplets.
      Assignments{"model=llama-3.1-8b", "cluster=dgx-a100", "cluster.devices=64",
                  "cluster.device.design.preset=a100-like", "cluster.device.design.dram.preset=gddr6",
                  "cluster.device.design.stacks=8", "training.global_batch=64", "serving=null"} +
          kOneStage,
      kPools + Assignments{"serving.disaggregated.prefill_device.design.preset=a100-like",
                           "serving.disaggregated.prefill_device.design.dram.preset=gddr6",
                           "serving.disaggregated.prefill_device.design.power=1000 W",
                           "serving.disaggregated.prefill_device.design.memory_enabled=1"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=l4", "cost.prefill_pool.rental.price=1 $/h"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=l4",
                           "cost.prefill_pool.device.dies.0.yield_model=manual"},
      kPools + Assignments{"serving.disaggregated.prefill_device.preset=l4",
                           "cost.prefill_pool.device.package.area_limit=2000 mm^2",
                           "cost.prefill_pool.device.dies.0.yield_model=bose_einstein_per_layer"},
      LargePools("16"),
      LargePools("128"),
      LargePools("512"),
      {"cluster=dgx-h100", "cluster.devices=64", "training=null", "serving=null", "partition.chiplets=4",
       "partition.io_share=0.2", "partition.bandwidth=1 TB/s", "partition.package=stacked-hybrid",
       "cluster.device.design.preset=h100-like"},
      {"cluster=hgx-mi300x", "cluster.devices=8", "training=null", "serving=null", "partition.chiplets=2",
       "partition.package=stacked-hybrid", "partition.package.steps.0.pad_pitch=0.009 mm",
       "partition.package.steps.0.pad_loss=1e-9"},
      Assignments{"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64", "partition.chiplets=4",
                  "partition.overhead=0.2", "partition.package=fan-out-chip-first", "training.global_batch=64",
                  "serving=null"} +
          kOneStage,
      {"cluster=dgx-h100", "training=null", "serving=null", "diffusion.model=wan2.1-t2v-14b", "diffusion.offload=true",
       "diffusion.batch=2", "diffusion.guidance_parallel=true", "diffusion.ulysses=2", "diffusion.ring=2",
       "diffusion.devices=8"},
      {"cluster=dgx-h100", "training=null", "serving=null", "diffusion.model=flux.1-dev", "diffusion.compiled=false",
       "diffusion.width=512", "diffusion.height=768", "diffusion.steps=20"},
      {"cluster=dgx-h100", "training=null", "serving=null", "diffusion.model=stable-diffusion-3.5-medium",
       "diffusion.compiled=false", "diffusion.ulysses=8"},
      kPostTraining,
      kPostTraining + Assignments{"post_training.placement=pools"},
      // A device outside the catalogue on an interposer.
      {"cluster.devices=8", "training=null", "serving=null"},
      {"training=null", "serving=null", "cost.device.dies.0.yield_model=manual"},
      {"training=null", "serving=null", "cost.device.dies.0.yield_model=bose_einstein_per_layer"},
      {"cluster=hgx-mi300x", "cluster.devices=8", "training=null", "serving=null",
       "cost.device.package.steps.0.pad_pitch=0.009 mm", "cost.device.package.steps.0.pad_loss=1e-9"},
  };
  return all;
}

TEST(Inputs, EachMovesAFigureOrIsDeclaredInformational) {
  const Json described = *ParseJson(DescribeAnswer().text);
  const Json& inputs = described["inputs"];
  // Inputs whose help says that they move nothing are left to InformationalOnesMoveNothing, as they would be tried in
  // every scenario.
  Json tried = Json::array();
  for (const Json& input : inputs) {
    const std::string path = input["path"].get<std::string>(), kind = input["kind"].get<std::string>();
    // A measured value acts before the scenario is read: the OwnMeasurements tests cover it.
    const bool acts_before = path == "version" || path == "measured.*.value";
    const bool moves = kind != "object" && kind != "list" && kind != "text" && !acts_before;
    if (moves && !SaysSo(input, inputs)) tried.push_back(input);
  }
  std::set<std::string> acting;
  // Most inputs move a headline figure. Operators and intervals take longest and are compared for the others only.
  for (const Assignments& assignments : Scenarios())
    Try(assignments, tried, ReportDetail::Figures(), Warnings::kCount, acting);
  for (const Assignments& assignments : Scenarios()) Try(assignments, tried, AllFigures(), Warnings::kCount, acting);
  for (const Json& input : tried) {
    const std::string path = input["path"].get<std::string>();
    EXPECT_TRUE(acting.contains(path)) << path
                                       << " moves no figure: add one to Scenarios() above in which it does, or end its "
                                          "help with \"no figure uses it\"; now it says: "
                                       << input["help"].get<std::string>();
  }
}

// An informational input that begins to act must change its help.
TEST(Inputs, InformationalOnesMoveNothing) {
  const Json described = *ParseJson(DescribeAnswer().text);
  Json informational = Json::array();
  for (const Json& input : described["inputs"]) {
    if (input["help"].get<std::string>().find("no figure uses it") != std::string::npos) informational.push_back(input);
  }
  EXPECT_GT(informational.size(), 0u);
  std::set<std::string> acting;
  for (const Assignments& assignments : Scenarios())
    Try(assignments, informational, AllFigures(), Warnings::kDoNotCount, acting);
  for (const std::string& path : acting) ADD_FAILURE() << path << " moves a figure, and its help denies it";
}

}  // namespace
}  // namespace slipstick::testing
