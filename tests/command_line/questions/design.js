// Chips, pictures and films, measured figures and what to change.
import assert from "node:assert/strict";
import { ask, between, near, HOUR, H100 } from "./asking.js";

export const DESIGN = [
  {
    number: 18,
    question: "My own chip",
    command:
      "design model=llama-3.1-70b training=null cluster.device.design=h100-like " +
      "--objective serving.cost_usd_per_million_tokens",
    holds({ objective, start, feasible, converged, overrides, limits }) {
      assert.ok(feasible && converged);
      between(objective, 0.3 * start, start);
      for (const budget of ["area", "power", "edge"]) {
        const shares = Object.entries(overrides).filter(([path]) => path.includes(`${budget}_split`));
        between(
          shares.reduce((sum, [, share]) => sum + share, 0),
          0,
          1.0001,
          budget,
        );
      }
      assert.ok(
        limits.some(({ change }) => change !== 0),
        "what more of a budget would bring",
      );
    },
  },
  {
    number: 19,
    question: "Chiplet or monolith",
    command: "cost-study -",
    input: '{"kind": "partition"}',
    holds({ whole, split, die_area_mm2 }) {
      // A die of half the size yields better than one of 814 mm^2 but needs area for its links.
      between(die_area_mm2, 814 / 2, 814 * 0.65);
      const part = ({ device_usd_parts }, name) => device_usd_parts.find((one) => one.name.startsWith(name)).cost_usd;
      assert.ok(part(split, "GPU die") < part(whole, "GPU die"));
      for (const { device_usd, device_usd_parts } of [whole, split]) {
        near(
          device_usd_parts.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
          device_usd,
          1e-6,
        );
        // Analysts estimate 3,320 $ for an H100.
        near(device_usd, 3320, 0.2);
      }
    },
  },
  {
    number: 23,
    question: "Image / video diffusion",
    command: "evaluate cluster=dgx-h100 diffusion.model=hunyuanvideo diffusion.ulysses=8 diffusion.attention=flash2",
    holds({ training, serving, diffusion, cost }) {
      assert.deepEqual([training, serving], [null, null], "nothing else was asked");
      assert.ok(diffusion.feasible);
      // 129 frames of 1,280 x 720: 33 latent frames of 80 x 45 tokens.
      assert.equal(diffusion.tokens, 33 * 80 * 45);
      // Attention over all pairs of tokens in 60 blocks of 3,072, and 12 h^2 per token, in 50 steps.
      const tokens = diffusion.tokens + 256;
      const step = 60 * (4 * tokens ** 2 * 3072 + 2 * 12 * 3072 ** 2 * tokens);
      between(diffusion.latency_s, (50 * step) / (8 * H100.bf16), (4 * 50 * step) / (8 * H100.bf16));
      near(
        Object.values(diffusion.time_s).reduce((sum, part) => sum + part, 0),
        diffusion.latency_s,
        1e-6,
      );
      between(diffusion.memory_bytes.weights, 2 * 12.8e9, 50e9);
      // A clip uses eight devices for its time; 129 frames last 5.4 seconds.
      near(diffusion.cost_usd, (8 * diffusion.latency_s * cost.device_hour_usd) / HOUR, 1e-6);
      near(diffusion.video_s_per_hour, (HOUR * 129) / 24 / diffusion.latency_s, 1e-6);
      between(diffusion.energy_j, 8 * 100 * diffusion.latency_s, 8 * 1500 * diffusion.latency_s);
      // Measured by its publisher: 1,904 s on one H100.
      const one = ask(this.command.replace("ulysses=8", "ulysses=1") + " diffusion.compiled=false").diffusion;
      near(one.latency_s, 1904, 0.15);
    },
  },
  {
    number: 32,
    question: "Explain my measured number",
    command: "calibrate -",
    input: JSON.stringify({
      request: {
        version: 3,
        model: "llama-3.1-8b",
        cluster: "dgx-h100",
        training: null,
        serving: { mapping: { tp: 4, pp: 1 } },
      },
      measured: [{ figure: "serving.tpot_s", value: 0.0052 }],
    }),
    holds({ measured: [{ measured, computed, error, inputs, terms }] }) {
      assert.equal(measured, 0.0052);
      near(computed, measured * (1 + error), 1e-6);
      near(
        terms.reduce((sum, { value }) => sum + value, 0),
        computed,
        0.01,
      );
      const explains = inputs.find(({ path, to }) => to !== null && path.endsWith(".stream")); // a share, without unit
      const scenario =
        "evaluate version=3 model=llama-3.1-8b cluster=dgx-h100 training=null serving.mapping.tp=4 serving.mapping.pp=1";
      near(ask(`${scenario} "${explains.path}=${explains.to}"`).serving.tpot_s, 0.0052, 0.005, "by what explains it");
      near(ask(`${scenario} --measured "serving.tpot_s=5.2 ms"`).serving.tpot_s, 0.0052, 0.005);
    },
  },
  {
    number: 34,
    question: "What should I change next?",
    command: "advise model=llama-3.1-70b cluster=dgx-h100 --for serving --top 4",
    holds({ value, changes, figure }) {
      assert.equal(changes.length, 4);
      const gains = changes.map(({ gain }) => gain);
      assert.deepEqual(
        gains,
        [...gains].sort((a, b) => b - a),
      );
      for (const { figures, gain, effort } of changes) {
        near(value / figures[figure], gain, 1e-6);
        assert.ok(gain > 1 && effort.length > 10);
      }
    },
  },
];
