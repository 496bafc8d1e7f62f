// Which devices serve a model, how many, and at what cost.
import assert from "node:assert/strict";
import { ask, compared, between, near, HOUR, H100, LLAMA_70B } from "./asking.js";

export const SERVING = [
  {
    number: 1,
    question: "Which GPU for this model at this latency?",
    command:
      'size model=llama-3.1-70b serving.prompt=2000 serving.output=300 --rate 40 --ttft "800 ms" --tpot "30 ms" ' +
      "--clusters dgx-h100,dgx-h200,dgx-b200,hgx-mi300x",
    holds({ best, clusters }) {
      assert.equal(clusters.length, 4);
      const hourly = clusters.map(({ cost }) => cost.usd_per_hour);
      assert.equal(hourly[best], Math.min(...hourly), "the best is the cheapest");
      for (const { cluster, holds, at_peak, deployment } of clusters) {
        assert.ok(holds, cluster);
        between(at_peak.ttft_s, 0, 0.8, cluster);
        between(at_peak.tpot_s, 0, 0.03, cluster);
        if (cluster !== "dgx-h100") continue;
        // At least 40 requests/s of 2,300 tokens at two FLOP per weight and token and the peak in fp8.
        between(deployment.devices, (40 * 2300 * 2 * LLAMA_70B) / H100.fp8, 100, cluster);
      }
    },
  },
  {
    number: 2,
    question: "How many GPUs?",
    command:
      'size model=qwen3-8b serving.prompt=2000 serving.output=300 --rate 5 --ttft "1 s" --tpot "50 ms" ' +
      "--clusters single-rtx-5090 --percentile 99",
    holds({ clusters: [{ holds, simulated, deployment }] }) {
      assert.ok(holds);
      assert.equal(simulated.percentile, "99");
      between(simulated.ttft_s, 0, 1);
      between(simulated.tpot_s, 0, 0.05);
      const twice = ask(this.command.replace("--rate 5", "--rate 20")).clusters[0].deployment;
      between(twice.devices / deployment.devices, 1.5, 6, "four times the traffic");
    },
  },
  {
    number: 4,
    question: "$ per million tokens, own or rented",
    command:
      "compare model=llama-3.1-70b cluster=dgx-h100 cluster.devices=8 training=null " +
      "--against cost.rental=lambda-h100-on-demand",
    holds(answer) {
      const dollars = compared(answer, "serving.cost_usd_per_million_tokens");
      const hours = compared(answer, "cost.device_hour_usd"),
        rates = compared(answer, "serving.tokens_per_s");
      between(hours[0], 1, 4, "owned");
      assert.equal(hours[1], 3.99, "the provider's price");
      for (const i of [0, 1]) near(dollars[i], (8 * hours[i] * 1e6) / (HOUR * rates[i]), 1e-6);
    },
  },
  {
    number: 5,
    question: "Self-host or API?",
    command:
      'size model=llama-3.1-8b serving.prompt=2000 serving.output=300 --rate 40 --ttft "800 ms" --tpot "30 ms" ' +
      "--clusters dgx-h100,single-rtx-5090 --prices 0.1,0.05,0.2",
    holds({ clusters }) {
      const request = (2000 * 0.1 + 300 * 0.2) / 1e6;
      for (const { cluster, cost } of clusters) {
        const { margin, break_even } = cost.market;
        near(1 - margin, cost.usd_per_hour / (40 * HOUR * request), 1e-6, cluster);
        near(break_even.requests_per_s, cost.usd_per_hour / (HOUR * request), 1e-6, cluster);
        assert.equal(break_even.in_reach, break_even.requests_per_s <= break_even.most_requests_per_s, cluster);
      }
    },
  },
  {
    number: 6,
    question: "P:D ratio",
    command:
      "search model=llama-3.1-70b training=null cluster=dgx-h100 cluster.devices=64 serving.prompt=4000 " +
      "serving.output=500 serving.disaggregated.prefill_devices=24 serving.disaggregated.decode_devices=40 " +
      "--for serving --limit serving.ttft_s<=1 --limit serving.tpot_s<=0.03",
    holds({ best, done, space }) {
      assert.equal(done, space);
      const rates = best.map((one) => one.tokens_per_s_per_device);
      assert.deepEqual(
        rates,
        [...rates].sort((a, b) => b - a),
      );
      const { overrides } = best[0];
      const prefill = overrides["serving.disaggregated.prefill_devices"];
      assert.equal(prefill + overrides["serving.disaggregated.decode_devices"], 64);
      // A prompt has eight times the tokens of an answer and is computed in one pass, so both pools need a fair share.
      between(prefill, 12, 52);
      const chosen = Object.entries(overrides).map(([path, value]) => `${path}=${value === null ? "null" : value}`);
      const at = ask(`${this.command.replace(/^search/, "evaluate").replace(/ --for.*/, "")} ${chosen.join(" ")}`);
      near(at.serving.tokens_per_s_per_device, rates[0], 1e-6);
      between(at.serving.ttft_s, 0, 1);
      between(at.serving.tpot_s, 0, 0.03);
    },
  },
  {
    number: 7,
    question: "Prefill on L40S / RTX PRO, decode on H200: cheaper?",
    command:
      "compare model=llama-3.1-70b cluster=dgx-h200 cluster.devices=64 training=null serving.prompt=4000 " +
      "serving.output=500 serving.disaggregated.prefill_devices=16 --against serving.disaggregated.prefill_device=l40s",
    holds(answer) {
      // Sixteen L40S cost less per hour than sixteen H200, and prompts wait for them: the tokens cost about as much.
      const dollars = compared(answer, "serving.cost_usd_per_million_tokens");
      between(dollars[1], 0.8 * dollars[0], 1.2 * dollars[0]);
      const first = compared(answer, "serving.ttft_s");
      // Two L40S compute 4,000 tokens in 4000 · 2 · 70e9 / (2 · 733e12) s at their peak in fp8, and reduce 160 times
      // 4000 · 8192 · 2 B over PCIe 4.0 at 32 GB/s; half of both rates is reached.
      const atPeak = (4000 * 2 * 70e9) / (2 * 733e12) + (160 * 4000 * 8192 * 2) / 32e9;
      assert.ok(first[1] > first[0]);
      between(first[1], atPeak, 2.2 * atPeak);
      const pools = ask(this.command.replace(/^compare/, "evaluate").replace("--against ", "")).serving.pools;
      near(pools.prefill.cost_usd_per_million_tokens + pools.decode.cost_usd_per_million_tokens, dollars[1], 1e-6);
    },
  },
  {
    number: 14,
    question: "MoE wide EP",
    command:
      'size model=deepseek-v3 serving.prompt=2000 serving.output=500 --rate 100 --ttft "2 s" --tpot "50 ms" ' +
      "--clusters dgx-h200,gb200-nvl72",
    holds({ clusters }) {
      for (const { cluster, holds, deployment, at_peak } of clusters) {
        assert.ok(holds, cluster);
        // 671 GB in fp8 exceed four of either device, so experts span a node or more.
        between(deployment.mapping.ep, 8, 256, cluster);
        assert.equal(deployment.devices % deployment.devices_per_replica, 0, cluster);
        between(at_peak.tpot_s, 0, 0.05, cluster);
      }
    },
  },
  {
    number: 17,
    question: "Power-capped cluster",
    command:
      'size model=llama-3.1-70b serving.prompt=2000 serving.output=300 --rate 100 --ttft "800 ms" --tpot "30 ms" ' +
      '--clusters dgx-h100,dgx-b200 --power "1 MW" --rack-power "40 kW"',
    holds({ clusters }) {
      for (const { cluster, holds, deployment } of clusters) {
        assert.ok(holds, cluster);
        between(deployment.power_w, 0, 1e6, cluster);
        assert.ok(deployment.racks * 40e3 >= (deployment.power_w * deployment.servers) / deployment.servers / 1.5);
      }
      assert.ok(!ask(this.command.replace('"1 MW"', '"20 kW"')).clusters[0].holds, "20 kW are less than two servers");
      const slower = ask(
        "compare model=llama-3.1-70b cluster=dgx-h100 cluster.devices=64 serving=null " +
          '--against "cluster.device.tdp=500 W"',
      );
      const [free, capped] = compared(slower, "training.step_time_s"),
        [energy, less] = compared(slower, "training.energy_j");
      between(capped / free, 1, 700 / 500);
      between(less / energy, 500 / 700, 1);
    },
  },
  {
    number: 24,
    question: "Agents, prefix caching",
    command:
      "evaluate model=kimi-k2.6 cluster=dgx-b200 cluster.devices=8 training=null serving.prompt=100k " +
      "serving.output=600 serving.batch=16 serving.mapping.tp=1 serving.mapping.pp=1 serving.mapping.attention_dp=8 " +
      "serving.mapping.ep=8 serving.prefix_hit=0.95 serving.idle_sessions=2",
    holds({ serving, warnings }) {
      assert.ok(serving.feasible);
      // For each of 16 active agents two are waiting, each with 95 % of its 100k tokens cached.
      assert.match(warnings.join(), /serving\.prefix_hit 0\.95 rests on prefixes that stay in memory/);
      const cold = ask(this.command.replace("prefix_hit=0.95", "prefix_hit=0")).serving;
      between(cold.ttft_s / serving.ttft_s, 3, 20.1, "a twentieth of the prompt is computed");
      between(serving.tokens_per_s / cold.tokens_per_s, 1.5, 20);
      assert.equal(cold.prefix_cache.device_bytes, 0);
      // Latent attention caches 576 16-bit values per token and layer. Each device has two active agents and four
      // waiting ones with 95,000 of 100,000 tokens.
      near(serving.prefix_cache.device_bytes, 4 * 0.95 * 102_400 * 61 * 576 * 2, 0.03);
      // The number of agents is bounded by memory.
      const { value } = ask(
        this.command.replace(/^evaluate/, "solve").replace("sessions=2", "sessions=0:1000") +
          " --until 'serving.feasible>=1'",
      );
      const at = (sessions) => ask(this.command.replace("sessions=2", `sessions=${sessions}`)).serving.feasible;
      assert.deepEqual([at(0.99 * value), at(1.01 * value)], [true, false]);
    },
  },
  {
    number: 33,
    question: "Tail latencies under bursts",
    command:
      "evaluate model=llama-3.1-8b cluster=dgx-h100 cluster.devices=1 training=null serving.requests_per_s=5 " +
      "serving.simulate.requests=20000 serving.arrivals.kind=gamma serving.arrivals.burstiness=0.25",
    holds({ serving }) {
      assert.equal(serving.simulated.requests, 20000);
      for (const figure of ["ttft", "tpot", "latency"]) {
        const { p50, p90, p99 } = serving[`${figure}_percentiles_s`];
        assert.ok(p50 > 0 && p50 <= p90 && p90 <= p99, figure);
      }
      // Little's law.
      const { requests_in_flight, requests_per_s, request_latency_s } = serving.simulated;
      near(requests_in_flight, requests_per_s * request_latency_s, 0.05);
      const even = ask(this.command.replace("burstiness=0.25", "burstiness=4")).serving;
      assert.ok(serving.ttft_percentiles_s.p99 > even.ttft_percentiles_s.p99, "bursts queue");
    },
  },
];
