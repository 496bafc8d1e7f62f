// What one server or card can do, and what formats, drafts and caches change.
import assert from "node:assert/strict";
import { ask, compared, between, near, H100, kvBytes } from "./asking.js";

export const ONE_SERVER = [
  {
    number: 3,
    question: "Longest context on my card",
    command:
      "solve model=qwen3-8b cluster=single-rtx-4090 training=null serving.batch=1 serving.precision.weights=fp8 " +
      "serving.prompt=1k:1M --until 'serving.feasible>=1'",
    holds({ value, which }) {
      assert.equal(which, "largest");
      // One-byte weights and the KV cache fill the card; at least 70 % of the rest is KV cache.
      const most = (24e9 - 8.19e9) / kvBytes(36, 8, 128);
      between(value, 0.7 * most, most);
    },
  },
  {
    number: 8,
    question: "Does speculation pay at my load?",
    command:
      "compare model=llama-3.1-8b cluster=dgx-h100 training=null serving.batch=8 " +
      "--against serving.speculative=eagle-3-llama-3.1-8b --against serving.batch=128 " +
      '--against "serving.batch=128&serving.speculative=eagle-3-llama-3.1-8b"',
    holds(answer) {
      const [alone, drafted, full, drafted_full] = compared(answer, "serving.tpot_s");
      // Measured with this head: 2.79 tokens per step, which bounds the speedup.
      between(alone / drafted, 1, 2.79);
      assert.ok(full / drafted_full < alone / drafted, "a full batch has less to gain");
    },
  },
  {
    number: 9,
    question: "KV offload",
    command:
      "compare model=llama-3.1-70b cluster=dgx-h100 training=null cluster.devices=8 serving.prompt=32k " +
      "serving.output=500 serving.batch=100 --against serving.kv_offload={}",
    holds(answer) {
      assert.deepEqual(compared(answer, "serving.feasible"), [false, true]);
      const most = compared(answer, "serving.max_batch"),
        bytes = compared(answer, "serving.kv_offload.bytes")[1],
        transfer = compared(answer, "serving.kv_offload.transfer_s")[1],
        exposed = compared(answer, "serving.kv_offload.exposed_s")[1];
      assert.ok(most[1] > 2 * most[0]);
      // A PCIe 5.0 x16 link moves at most 64 GB/s per direction; the decode step hides only part of it.
      between(transfer, bytes / 64e9, (1.5 * bytes) / 64e9);
      between(exposed, 0, transfer);
      between(compared(answer, "serving.tpot_s")[1], exposed, 2 * transfer);
    },
  },
  {
    number: 10,
    question: "Which quantization?",
    command:
      "sweep model=qwen3-8b cluster=single-rtx-4090 training=null serving.batch=1 " +
      "serving.precision.weights=bf16,fp8,int8,int4 " +
      "--report serving.feasible,serving.tpot_s,serving.max_context,serving.memory_bytes.weights",
    holds(rows) {
      const of = (name) => rows.map((row) => Number(row[name]));
      const weights = of("serving.memory_bytes.weights"),
        time = of("serving.tpot_s"),
        context = of("serving.max_context");
      // The layers' weights in their format, embedding and head in 16 bit.
      const table = 151936 * 4096;
      [2, 1, 1, 0.5].forEach((bytes, i) => {
        const layers = (8.19e9 - 2 * table) * bytes;
        between(weights[i], layers + 2 * table * Math.min(bytes, 1), 1.1 * (layers + 4 * table));
      });
      assert.ok(time[0] > time[1] && time[1] > time[3] && context[0] < context[1] && context[1] < context[3]);
      // A step reads all weights except the input table, at 1,008 GB/s at most.
      rows.forEach((_, i) => between(time[i], (0.8 * weights[i]) / 1.008e12, (2 * weights[i]) / 1.008e12));
    },
  },
  {
    number: 22,
    question: "Images in the prompt (VLM)",
    command:
      "evaluate model=qwen3-vl-8b cluster=single-h100-sxm5-80gb training=null serving.batch=1 serving.prompt=1124 " +
      "serving.output=100 serving.images.count=1 serving.images.width=1024 serving.images.height=1024",
    holds({ serving }) {
      // A token covers 32 x 32 pixels.
      assert.equal(serving.images.tokens, 1024);
      // 27 layers on 4,096 patches: two FLOP per weight and patch, and attention over all pairs of patches, at the
      // peak. Small encoders stay below a third of it.
      const flops = 4096 * 2 * 27 * 1152 * (4 * 1152 + 2 * 4304) + 4 * 27 * 4096 ** 2 * 1152;
      between(serving.images.encode_s, flops / H100.bf16, (6 * flops) / H100.bf16);
      const text = ask(this.command.replace(/ serving.images.*/, "")).serving;
      assert.ok(serving.ttft_s > text.ttft_s + 0.9 * serving.images.encode_s);
      assert.equal(serving.tpot_s, text.tpot_s);
      // The encoder's 576.4 million weights (model card of OpenExplorer/Qwen3-VL-8B-Instruct) are in memory.
      const alone = ask(this.command.replace("qwen3-vl-8b", "qwen3-8b").replace(/ serving.images.*/, "")).serving;
      near(serving.memory_bytes.weights - alone.memory_bytes.weights, 2 * 576.4e6, 0.02);
      // The number of images is bounded by the prompt tokens.
      const many = ask(this.command.replace("images.count=1", "images.count=2"));
      assert.match(many.issues[0].message, /^At least 2048/);
    },
  },
  {
    number: 26,
    question: "Laptop, Mac, DGX Spark",
    command:
      "evaluate model=qwen3-30b-a3b cluster=single-m4-max serving.engine=mlx training=null serving.batch=1 " +
      "serving.precision.weights=q4_0",
    holds({ serving }) {
      assert.ok(serving.feasible);
      // 3.3 billion active weights of 4.5 bits at 546 GB/s bound the rate; no engine reaches it.
      between(1 / serving.tpot_s, 30, 546e9 / (3.3e9 * (4.5 / 8)));
      // 5.1 billion active weights, experts in MXFP4, at 273 GB/s.
      const spark = ask(
        "evaluate model=gpt-oss-120b cluster=single-dgx-spark serving.engine=llamacpp-2025 training=null serving.batch=1",
      ).serving;
      between(1 / spark.tpot_s, 20, 273e9 / (5.1e9 * (4.25 / 8)));
    },
  },
  {
    number: 27,
    question: "Phone",
    command:
      "evaluate model=qwen3-8b cluster=single-snapdragon-8-elite-gen-5 serving.engine=llamacpp-2025 training=null " +
      "serving.batch=1 serving.prompt=16 serving.output=16 serving.precision.weights=q4_k_m " +
      "serving.precision.activations=fp16 serving.precision.kv_cache=fp16",
    holds({ serving }) {
      assert.ok(serving.feasible);
      // Measured on a OnePlus 15: 11.14 tokens/s (ggml-org/llama.cpp issue 27677, 2026-08-29).
      near(1 / serving.tpot_s, 11.14, 0.3);
      // 8 billion weights in 16 bit are more than the phone has.
      const wide = ask(this.command.replace("weights=q4_k_m", "weights=fp16")).serving;
      assert.ok(!wide.feasible);
    },
  },
  {
    number: 28,
    question: "Diffusion LM",
    command:
      "evaluate model=llada2.0-flash cluster=hgx-h20 cluster.devices=8 serving.engine=sglang training=null " +
      "serving.batch=1 serving.prompt=512 serving.output=1.5k serving.mapping.tp=8 serving.mapping.pp=1 " +
      "serving.precision.weights=bf16 serving.precision.activations=bf16 serving.block_diffusion.block=32 " +
      "serving.block_diffusion.tokens_per_step=4.65",
    holds({ serving }) {
      assert.ok(serving.feasible);
      // Its publisher: 4.65 tokens per forward pass, and 2.1 times the speed of models that write one token per step.
      const token = ask(this.command.replace(/ serving.block_diffusion.*/, "")).serving;
      near(token.tpot_s / serving.tpot_s, 2.1, 0.3);
      // Each of 32 tokens visits 8 of 256 experts of three matrices of 4,096 x 1,024 in 31 layers. A step reads every
      // expert that any of them visits, on eight devices of 4 TB/s.
      const visited = 256 * (1 - (1 - 8 / 256) ** 32);
      const least = (31 * visited * 3 * 4096 * 1024 * 2) / (8 * 4e12);
      between(serving.tpot_s * 4.65, 0.8 * least, 5 * least);
      const half = ask(this.command.replace("tokens_per_step=4.65", "tokens_per_step=2.325")).serving;
      near(half.tpot_s / serving.tpot_s, 2, 0.01);
    },
  },
  {
    number: 29,
    question: "Experts in RAM",
    command:
      "evaluate model=gpt-oss-120b cluster=single-rtx-4090 serving.engine=llamacpp-2025 training=null " +
      "serving.batch=1 serving.host_experts={}",
    holds({ serving }) {
      assert.ok(serving.feasible);
      // 36 layers with 128 experts of three matrices of 2,880 squared, 4.25 bits each; a token visits four.
      const expert = 3 * 2880 ** 2 * (4.25 / 8);
      near(serving.host_bytes, 36 * 128 * expert, 0.03);
      // Two channels of DDR5-6000.
      between(1 / serving.tpot_s, 5, 96e9 / (36 * 4 * expert));
      between(serving.memory_bytes.total, 1e9, 24e9);
    },
  },
  {
    number: 30,
    question: "Many adapters",
    command:
      "compare model=llama-3.1-8b cluster=dgx-h100 training=null serving.batch=64 serving.mapping.tp=1 " +
      "serving.mapping.pp=1 --against serving.adapters.resident=100&serving.adapters.active=32&serving.adapters.rank=16",
    holds(answer) {
      const [plain, adapted] = compared(answer, "serving.tokens_per_s");
      between(adapted / plain, 0.5, 1);
      // Rank 16 on all seven products of 32 layers: 42 million weights of 16 bit.
      const [without, with100] = compared(answer, "serving.memory_bytes.weights");
      near(with100 - without, 100 * 2 * 41.9e6, 0.02);
    },
  },
];
