// Training, fine-tuning and post-training.
import assert from "node:assert/strict";
import { ask, compared, between, near, HOUR, DAY, H100, LLAMA_70B } from "./asking.js";

export const TRAINING = [
  {
    number: 11,
    question: "LoRA/QLoRA on a 4090",
    command:
      "evaluate model=qwen3-8b cluster=single-rtx-4090 serving=null training.trainable=lora " +
      "training.frozen_precision=nf4 training.sequence=2048 training.global_batch=16 training.tokens=20M",
    holds({ training, cost }) {
      assert.ok(training.feasible);
      // Weights take half a byte, except the tables; published advice for 7B in 4 bit is 6 GB plus activations.
      between(training.memory_bytes.weights, 8.19e9 / 2, 8e9);
      between(training.memory_bytes.total, 6e9, 24e9);
      // Forward and backward through all weights, 4 FLOP per weight and token, at 165 TFLOP/s.
      const least = (4 * 7.57e9 * 2048 * 16) / 165e12;
      between(training.step_time_s, least, 5 * least);
      near(training.time_to_train_s, (training.step_time_s * 20e6) / (2048 * 16), 0.01);
      near(training.cost_usd, (training.time_to_train_s / HOUR) * cost.device_hour_usd, 0.01);
    },
  },
  {
    number: 12,
    question: "Time and cost of 7B / 70B / 1T",
    command: "evaluate model=llama-2-7b cluster=dgx-h100 cluster.devices=256 serving=null training.tokens=2T",
    holds(answer) {
      const runs = [
        [answer, 6.74e9, 2e12, 256, 989e12],
        [
          ask("evaluate model=llama-3.1-70b cluster=dgx-b200 cluster.devices=2048 serving=null training.tokens=15T"),
          LLAMA_70B,
          15e12,
          2048,
          2250e12,
        ],
        [
          // From its report: 67M tokens per step, sequences of 4,096.
          ask(
            "evaluate model=kimi-k2 cluster=gb200-nvl72 cluster.devices=4608 serving=null training.tokens=15.5T " +
              "training.global_batch=16384 training.sequence=4096",
          ),
          32e9,
          15.5e12,
          4608,
          2500e12,
        ],
      ];
      for (const [{ training, cost, scenario }, parameters, tokens, devices, peak] of runs) {
        // Six FLOP per active weight and token at the peak; real runs reach 20 to 60 % of it.
        const least = (6 * parameters * tokens) / (devices * peak);
        between(training.time_to_train_s, least / 0.7, least / 0.15, scenario.model.preset);
        const hours = (devices * training.time_to_train_s) / HOUR;
        near(training.cost_usd, hours * cost.device_hour_usd, 0.01, scenario.model.preset);
      }
      between(runs[0][0].training.time_to_train_s, 4 * DAY, 16 * DAY);
    },
  },
  {
    number: 13,
    question: "Parallelism for N GPUs",
    command: "search model=llama-3.1-70b cluster=dgx-h100 cluster.devices=1024 serving=null --for training --top 3",
    holds({ best, space, done }) {
      assert.equal(done, space);
      assert.ok(space > 100_000);
      const degree = (name) => best[0].overrides[`training.mapping.${name}`] ?? 1;
      assert.equal(degree("tp") * degree("cp") * degree("pp") * degree("dp"), 1024);
      const { training } = ask("evaluate model=llama-3.1-70b cluster=dgx-h100 cluster.devices=1024 serving=null");
      between(best[0].step_time_s / training.step_time_s, 0.5, 1.0001, "no slower than the mapping that is chosen");
      assert.ok(
        training.chosen.every(({ why }) => why.length > 0),
        "each degree has its reason",
      );
    },
  },
  {
    number: 15,
    question: "Checkpoints, goodput",
    command:
      "evaluate model=llama-3.1-405b cluster=dgx-h100 cluster.devices=16384 serving=null training.tokens=15.6T " +
      "training.interruptions={}",
    holds({ training: { run, time_to_train_s } }) {
      // Llama 3: 419 unexpected interruptions in 54 days on 16,384 H100, more than 90 % effective training time.
      near(run.mean_time_between_interruptions_s, (54 * DAY) / 419, 0.01);
      between(run.goodput, 0.9, 1);
      near(run.wall_time_s, time_to_train_s / run.goodput, 0.001);
      // Young: the root of twice the stall times the mean time between interruptions.
      near(run.young_interval_s, Math.sqrt(2 * run.checkpoint_stall_s * run.mean_time_between_interruptions_s), 0.01);
    },
  },
  {
    number: 16,
    question: "Energy, carbon",
    command: "evaluate model=llama-3.1-70b cluster=dgx-h100 cluster.devices=64 training.tokens=1T",
    holds({ training, serving, scenario, cost }) {
      const gramsPerJoule = cost.carbon.operation_g_per_device_hour;
      assert.ok(gramsPerJoule > 0 && scenario.cost);
      // The carbon intensity of grids lies between 20 (hydro) and 900 g per kWh (coal).
      const grid = (serving.carbon_g_per_million_tokens * 3.6e6) / (serving.energy_j_per_token * 1e6);
      between(grid, 20, 900);
      near((training.tco2 * 1e6 * 3.6e6) / training.energy_j, grid, 0.01);
      // A server of eight draws at most 10.2 kW and the building half of that again; an idle server draws a fifth.
      const perDevice = training.energy_j / (64 * training.time_to_train_s);
      between(perDevice, 10200 / 8 / 5, (1.5 * 10200) / 8);
      assert.ok(serving.embodied_g_per_million_tokens > 0);
    },
  },
  {
    number: 20,
    question: "Two datacentres",
    command:
      "compare model=llama-3.1-70b cluster=dgx-h100 cluster.devices=2048 serving=null cluster.networks.1.size=128 " +
      'cluster.networks.2.name=WAN cluster.networks.2.size=2 "cluster.networks.2.latency=10 ms" ' +
      '"cluster.networks.2.bandwidth=5 GB/s" --against "cluster.networks.2.bandwidth=0.5 GB/s"',
    holds(answer) {
      const [fast, slow] = compared(answer, "training.step_time_s");
      between(slow / fast, 1, 10, "a tenth of the bandwidth");
      const report = ask(this.command.replace(/^compare/, "evaluate").replace(/ --against.*/, "")).training;
      assert.deepEqual(
        report.network_by_level.map(({ level }) => level),
        ["NVLink 4", "InfiniBand NDR", "WAN"],
      );
      const one = ask("evaluate model=llama-3.1-70b cluster=dgx-h100 cluster.devices=2048 serving=null").training;
      assert.ok(one.step_time_s <= fast, "one place is no slower");
      const joinsNothing = ask(
        this.command
          .replace(/^compare/, "evaluate")
          .replace(/ --against.*/, "")
          .replace("1.size=128", "1.size=1024"),
      );
      assert.match(joinsNothing.warnings.join(), /cluster\.networks\.2 \(WAN\) joins nothing/);
    },
  },
  {
    number: 21,
    question: "Long-context training",
    command:
      "evaluate model=llama-3.1-8b cluster=dgx-h100 cluster.devices=128 serving=null training.sequence=1M " +
      "training.global_batch=8",
    holds({ training, scenario }) {
      assert.ok(training.feasible);
      // The residual stream of 1M tokens alone, 4,096 values in 16 bit on each of 32 layers, is 275 GB.
      const { tp, cp } = scenario.training.mapping;
      assert.ok(tp * cp >= 4, `TP ${tp}, CP ${cp}`);
      assert.ok(training.chosen.some(({ path, why }) => path.endsWith(".cp") && why));
      between(training.model_flops_utilization, 0.1, 0.9);
      between(training.memory_bytes.total, 1e9, 80e9);
    },
  },
  { number: 25, question: "Mixed cluster for training; mixed cards", missing: "one kind of device per cluster" },
  {
    number: 31,
    question: "RL with long answers",
    command:
      "evaluate model=qwen3-8b cluster=dgx-h100 cluster.devices=64 post_training.algorithm=grpo serving.output=8k " +
      "post_training.max_response=16k training.sequence=20k",
    holds({ post_training: { feasible, step_time_s, time_s, samples } }) {
      assert.ok(feasible);
      near(
        Object.values(time_s).reduce((sum, part) => sum + part, 0),
        step_time_s,
        0.01,
      );
      // Public runs with long answers spend most of a step on generation, the rest on training and scoring.
      between(time_s.generation / step_time_s, 0.5, 0.99);
      // Six FLOP per weight and token of the samples at the peak of 64 devices.
      assert.ok(time_s.training > (6 * 7.57e9 * samples * 7000) / (64 * H100.bf16));
    },
  },
];
