// Our simulation of a scheduler against inference-lab's, which simulates vLLM's from a data sheet (MIT, npm
// @doublewordai/inference-lab): one H100 with Llama-3.1-8B, no overheads on either side, the same lengths, and arrivals
// by the same law.
//
// Its parameters state which weights a step reads: all except the embedding table. Its rules differ:
// - a request's first token leaves with the step after the last one of its prompt; ours leaves with the prompt's. The
// test adds this step to our first tokens.
// - streams of a closed loop start together and stay together where lengths are equal (`serving.waves`); in our steady
// state they are spread out.
// - a step is bound as a whole by all its FLOPs or all its bytes; ours is bound operator by operator, so a step that
// prefills and decodes takes up to a twentieth longer. It counts attention's FLOPs over the whole square, which matters
// only to long prompts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import test from "node:test";
import startPeer, { run_simulation as simulatePeer } from "@doublewordai/inference-lab";
import { loadSlipstick } from "../support/module.js";

const { slipstick } = await loadSlipstick();
await startPeer({
  module_or_path: readFileSync(fileURLToPath(import.meta.resolve("@doublewordai/inference-lab/inference_lab_bg.wasm"))),
});

const REQUESTS = 3000;
const PEAK = 989.4e12,
  BANDWIDTH = 3.35e12;
const PARAMETERS_READ = 8030261248 - 128256 * 4096;

const WORKLOADS = {
  "even arrivals, 10/s": { even: true, rate: 10, prompt: 1024, output: 256 },
  "Poisson, light": { rate: 2, prompt: 512, output: 128 },
  "Poisson, heavy": { rate: 14, prompt: 1024, output: 256 },
  "closed loop of 16": { users: 16, prompt: 1024, output: 256 },
  "closed loop of 64": { users: 64, prompt: 512, output: 512 },
  "Poisson, uniform lengths": { rate: 8, prompt: [512, 1536], output: [64, 192] },
};

const mean = (length) => (Array.isArray(length) ? (length[0] + length[1]) / 2 : length);

function peer({ even, rate, users, prompt, output }) {
  const lengths = (of) =>
    Array.isArray(of) ? { type: "uniform", min: of[0], max: of[1] } : { type: "fixed", value: of };
  const config = {
    hardware: {
      name: "H100",
      compute_flops: PEAK,
      memory_bandwidth: BANDWIDTH,
      memory_capacity: 80e9,
      kv_cache_capacity: 62e9,
      gpu_memory_utilization: 1,
      bytes_per_param: 2,
    },
    model: {
      name: "llama",
      num_parameters: PARAMETERS_READ,
      num_layers: 32,
      hidden_dim: 4096,
      num_heads: 32,
      num_kv_heads: 8,
      max_seq_len: 131072,
    },
    scheduler: {
      max_num_batched_tokens: 8192,
      max_num_seqs: 256,
      policy: "fcfs",
      enable_chunked_prefill: true,
      long_prefill_token_threshold: 0,
      max_num_partial_prefills: 1,
      block_size: 16,
    },
    workload: {
      arrival_pattern: users ? "closed_loop" : even ? "fixed_rate" : "poisson",
      arrival_rate: rate ?? 1,
      num_concurrent_users: users,
      input_len_dist: lengths(prompt),
      output_len_dist: lengths(output),
      num_requests: REQUESTS,
      seed: 7,
    },
    simulation: { log_interval: 1000 },
  };
  const start = performance.now();
  const { metrics } = simulatePeer(JSON.stringify(config));
  const spent = performance.now() - start;
  return {
    spent,
    ttft: [metrics.ttft_p50, metrics.ttft_p90],
    latency: [metrics.e2e_p50, metrics.e2e_p90],
    rate: metrics.requests_per_sec,
  };
}

function ours({ even, rate, users, prompt, output }) {
  const lengths = (of) =>
    Array.isArray(of) ? { kind: "uniform", variation: (of[1] - of[0]) / Math.sqrt(12) / mean(of) } : { kind: "fixed" };
  const load = users
    ? { concurrency: users, waves: Math.floor(REQUESTS / users) }
    : { requests_per_s: rate, arrivals: even ? { kind: "gamma", burstiness: 1000 } : { kind: "poisson" } };
  const request = {
    version: 1,
    model: "llama-3.1-8b",
    cluster: {
      preset: "single-h100-sxm5-80gb",
      devices: 1,
      device: { peak: { bf16: `${PEAK / 1e12} TFLOP/s` }, memory: { bandwidth: `${BANDWIDTH / 1e9} GB/s` } },
    },
    training: null,
    cost: null,
    serving: {
      prompt: mean(prompt),
      output: mean(output),
      max_requests: 256,
      prefill_chunk: 8192,
      ...load,
      lengths: { prompt: lengths(prompt), output: lengths(output) },
      engine: { preset: "roofline", utilization: { compute: 1, memory: 1, network: 1 }, splits_prompts: true },
      simulate: { requests: REQUESTS },
    },
  };
  const start = performance.now();
  const { serving } = JSON.parse(slipstick.evaluate(JSON.stringify(request), ""));
  const spent = performance.now() - start;
  const ms = ({ p50, p90 }) => [1e3 * p50, 1e3 * p90];
  const [step] = ms(serving.tpot_percentiles_s);
  return {
    spent,
    ttft: ms(serving.ttft_percentiles_s).map((time) => time + step),
    latency: ms(serving.latency_percentiles_s),
    rate: serving.simulated.requests_per_s,
  };
}

const apart = (ours, theirs) => Math.abs(ours / theirs - 1);
const shown = (values) => values.map((value) => value.toFixed(1)).join(", ");

test("latencies agree with another simulator's within 5 % on at least four of six workloads", (context) => {
  let agree = 0,
    first = 0,
    timeOfOurs = 0,
    timeOfPeer = 0;
  ours(WORKLOADS["Poisson, light"]); // compiles the module
  for (const [name, workload] of Object.entries(WORKLOADS)) {
    const [theirs, own] = [peer(workload), ours(workload)];
    const latency = own.latency.every((value, i) => apart(value, theirs.latency[i]) <= 0.05);
    agree += latency;
    first += apart(own.ttft[0], theirs.ttft[0]) <= 0.05;
    timeOfOurs += own.spent;
    timeOfPeer += theirs.spent;
    assert.ok(apart(own.rate, theirs.rate) <= 0.05, `${name}: requests/s ${own.rate} against ${theirs.rate}`);
    context.diagnostic(
      `${name}, p50 and p90 in ms: latency ${shown(own.latency)} against ${shown(theirs.latency)}; first token ${shown(own.ttft)} against ${shown(theirs.ttft)}`,
    );
  }
  const rate = (spent) => Math.round((Object.keys(WORKLOADS).length * REQUESTS * 1e3) / spent).toLocaleString("en-US");
  context.diagnostic(
    `latencies agree on ${agree} of 6, median first tokens on ${first}; simulated requests/s ${rate(timeOfOurs)} against ${rate(timeOfPeer)}`,
  );
  assert.ok(agree >= 4);
});
