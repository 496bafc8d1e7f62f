// The tools that ask the core further questions: the command line's answers, with the intervals of their figures and
// links to what they propose.
import assert from "node:assert/strict";
import test from "node:test";
import { loadSlipstick, slipstickCommand } from "../support/module.js";
import { get } from "../../web/state/paths.js";
import { assertFigure, command, linkOpener, near, SMALL, startServer } from "./mcp_client.js";

const { slipstick } = await loadSlipstick();
const opened = linkOpener(slipstick);
const { answerOf, issuesOf } = await startServer();

test("advise: the command line's changes, each with intervals and a link to it", async () => {
  const expected = command("advise", ...SMALL[1], "--for", "serving", "--top", "4");
  const answer = await answerOf("advise", { inputs: SMALL[0], for: "serving", top: 4 });
  assert.deepEqual(
    answer.changes.map(({ title }) => title),
    expected.changes.map(({ title }) => title),
  );
  assert.deepEqual(
    answer.pairs.map(({ title }) => title),
    expected.pairs.slice(0, 2).map(({ title }) => title),
  );
  near(answer.figures[expected.figure].value, expected.value, "now");
  for (const [at, { figures, link }] of [...answer.changes, ...answer.pairs].entries()) {
    const said = [...expected.changes, ...expected.pairs][at].figures[expected.figure];
    near(figures[expected.figure].value, said, `change ${at}`);
    assert.equal(figures["serving.tpot_s"].interval.length, 2);
    near(get((await opened(link)).report, expected.figure), said, `link of change ${at}`);
  }
});

test("size: the command line's deployments, figures at the peak with intervals, and their links", async () => {
  const expected = command(
    "size",
    "serving.prompt=2000",
    "serving.output=300",
    "--rate",
    "40",
    "--peak",
    "1.5",
    "--ttft",
    "800 ms",
    "--tpot",
    "26 ms",
    "--clusters",
    "dgx-h100,single-l4,dgx-h200",
  );
  const question = {
    requests_per_s: 40,
    peak_over_mean: 1.5,
    ttft: "800 ms",
    tpot: "26 ms",
    clusters: ["dgx-h100", "single-l4", "dgx-h200"],
  };
  const answer = await answerOf(
    "size",
    { inputs: { "serving.prompt": 2000, "serving.output": 300 }, ...question },
    { onprogress: () => {} },
  );
  assert.equal(answer.best, expected.clusters[expected.best].cluster);
  assert.deepEqual(
    answer.clusters.map(({ holds }) => holds),
    expected.clusters.map(({ holds }) => holds),
  );
  for (const [at, { holds, message, deployment, figures_at_peak: peak, cost, link }] of answer.clusters.entries()) {
    const said = expected.clusters[at];
    if (!holds) {
      assert.equal(message, said.message);
      continue;
    }
    assert.equal(deployment.devices, said.deployment.devices);
    assert.equal(peak.requests_per_s, 60);
    near(peak["serving.tpot_s"].value, said.at_peak.tpot_s, "TPOT at the peak");
    assert.equal(peak["serving.ttft_s"].interval.length, 2);
    near(cost.usd_per_hour.value, said.cost.usd_per_hour, "cost per hour");
    near((await opened(link)).report.serving.tpot_s, said.at_peak.tpot_s, "link");
  }
  assert.deepEqual([...new Set(expected.clusters.map(({ holds }) => holds))].sort(), [false, true]); // some hold and some do not
  const { state } = await opened(answer.link);
  assert.equal(state.scene, "size");
  assert.equal(state.view.size, "rate:40/ttft:800 ms/tpot:26 ms/peak:1.5/on:dgx-h100,single-l4,dgx-h200");
});

test("size: a mixture through a day, each class with its latencies and costs, and the link that asks for it", async () => {
  const expected = command(
    "size",
    "--rate",
    "20",
    "--day",
    "1,2,1",
    "--mixture",
    "3:1000/300,1:8000/200",
    "--tpot",
    "40 ms",
    "--clusters",
    "dgx-h100",
  ).clusters[0];
  const answer = await answerOf("size", {
    inputs: {},
    requests_per_s: 20,
    day: [1, 2, 1],
    mixture: [
      { weight: 3, prompt_tokens: 1000, output_tokens: 300 },
      { weight: 1, prompt_tokens: 8000, output_tokens: 200 },
    ],
    tpot: "40 ms",
    clusters: ["dgx-h100"],
  });
  const [sized] = answer.clusters;
  assert.equal(sized.deployment.devices, expected.deployment.devices);
  near(sized.figures_at_peak["serving.ttft_s"].value, expected.at_peak.ttft_s, "TTFT of the mixture");
  assert.equal(sized.figures_at_peak["serving.ttft_s"].interval, null);
  near(sized.figures_at_peak["serving.memory_bytes.total"].value, expected.at_peak.memory_bytes.total, "its memory");
  assert.equal(sized.classes.length, 2);
  near(sized.classes[1].ttft_s, expected.classes[1].ttft_s, "TTFT of a class");
  near(sized.classes[1].cost_share, expected.classes[1].cost_share, "cost of a class");
  assert.equal(sized.day.parts.length, 3);
  near(sized.day.idle_share, expected.day.idle_share, "idle through the day");
  const { state } = await opened(answer.link);
  assert.equal(state.view.size, "ttft:/peak:1, 2, 1/mix:3:1000/300, 1:8000/200/on:dgx-h100");
  const wrong = await issuesOf("size", {
    inputs: {},
    requests_per_s: 1,
    mixture: [{ weight: -1, prompt_tokens: 10, output_tokens: 10 }],
  });
  assert.deepEqual(
    wrong.map(({ path }) => path),
    ["mixture.0.weight"],
  );
});

test("search: the command line's best mappings and frontier, each with its interval and link", async () => {
  const expected = command("search", ...SMALL[1], "--for", "training", "--top", "3");
  const { best, space } = await answerOf("search", { inputs: SMALL[0], for: "training" });
  assert.equal(space, expected.space);
  for (const [at, { overrides, figures, link }] of best.rows.entries()) {
    assert.deepEqual({ ...best.common, ...overrides }, expected.best[at].overrides);
    near(figures["training.step_time_s"].value, expected.best[at].step_time_s, `mapping ${at}`);
    assert.equal(figures["training.step_time_s"].interval.length, 2);
    near((await opened(link)).report.training.step_time_s, expected.best[at].step_time_s, `link ${at}`);
  }
  const { pareto } = command(
    "search",
    ...SMALL[1],
    "training=null",
    "--for",
    "serving",
    "--objective",
    "tokens_per_s_per_user",
    "--pareto",
    "tokens_per_s_per_device",
  );
  const found = await answerOf("search", {
    inputs: { ...SMALL[0], training: null },
    for: "serving",
    objective: "tokens_per_s_per_user",
    pareto: ["tokens_per_s_per_device"],
  });
  assert.equal(found.frontier_points, pareto.length);
  assert.equal(found.frontier.rows.length, 8);
  for (const [at, point] of [
    [0, pareto[0]],
    [7, pareto.at(-1)],
  ]) {
    near(
      found.frontier.rows[at].figures["serving.tokens_per_s_per_user"].value,
      point.tokens_per_s_per_user,
      `speed of point ${at}`,
    );
    near(
      (await opened(found.frontier.rows[at].link)).report.serving.tokens_per_s_per_device,
      point.tokens_per_s_per_device,
      `link of point ${at}`,
    );
  }
});

test("sweep: a row per value with the interval that an evaluation has", async () => {
  const { rows } = await answerOf("sweep", {
    inputs: SMALL[0],
    axes: ["serving.batch=1,8,64"],
    report: ["serving.tpot_s", "serving.tokens_per_s_per_user", "serving.max_batch"],
  });
  assert.deepEqual(
    rows.map(({ inputs }) => inputs),
    [[1], [8], [64]],
  );
  for (const {
    inputs: [batch],
    figures,
  } of rows) {
    const expected = command("evaluate", ...SMALL[1], `serving.batch=${batch}`);
    assertFigure(figures, "serving.tpot_s", expected, "serving.tpot_interval");
    near(
      figures["serving.tokens_per_s_per_user"].interval[0],
      (expected.serving.tokens_per_s_per_user * expected.serving.tpot_s) / expected.serving.tpot_interval.high,
      "user, low",
    );
    assert.equal(figures["serving.max_batch"].value, expected.serving.max_batch);
  }
});

// Every tool that answers for images; the other tools refuse them.
test("each answer about an image has its interval, its assumptions and its link", async () => {
  const inputs = { "cluster": "dgx-h100", "diffusion.model": "flux.1-dev" };
  const args = ["cluster=dgx-h100", "diffusion.model=flux.1-dev"];
  const figure = "diffusion.latency_s";
  const holds = ({ figures }, ...change) =>
    assertFigure(figures, figure, command("evaluate", ...args, ...change), "diffusion.latency_interval");

  const { rows } = await answerOf("sweep", { inputs, axes: ["diffusion.steps=10,20"], report: [figure] });
  rows.forEach((row, at) => holds(row, `diffusion.steps=${[10, 20][at]}`));

  const compared = await answerOf("compare", { inputs, scenarios: [{}, { "diffusion.ulysses": 2 }] });
  holds(compared.scenarios[0]);
  holds(compared.scenarios[1], "diffusion.ulysses=2");
  near((await opened(compared.link)).report.diffusion.latency_s, command("evaluate", ...args).diffusion.latency_s);

  const solved = await answerOf("solve", { inputs, range: "diffusion.steps=1:50", until: [`${figure}<=3 s`] });
  holds(solved, `diffusion.steps=${solved.value}`);
  assert.equal((await opened(solved.link)).report.scenario.diffusion.steps, solved.value);

  for (const tool of ["sensitivity", "explain", "evidence"]) {
    const answer = await answerOf(tool, { inputs, figure });
    holds(answer);
    near((await opened(answer.link)).report.diffusion.latency_s, answer.figures[figure].value, tool);
  }

  const answer = await answerOf("evaluate", { inputs, paths: ["diffusion.video_s_per_hour"] });
  assert.match(answer.intervals[figure], /49 published runs of 5 publishers/);
  assert.equal(answer.defaults["diffusion.steps"], "50");
  for (const tool of ["search", "advise"])
    assert.equal((await issuesOf(tool, { inputs, for: "serving" }))[0].path, "diffusion");
});

test("solve: the command line's value, and a link at it", async () => {
  const expected = command("solve", ...SMALL[1], "serving.prompt=1k:64k", "--until", "serving.ttft_s<=400 ms");
  const answer = await answerOf("solve", {
    inputs: SMALL[0],
    range: "serving.prompt=1k:64k",
    until: ["serving.ttft_s<=400 ms"],
  });
  assert.equal(answer.value, expected.value);
  assert.equal(answer.which, "largest");
  near(answer.figures["serving.ttft_s"].value, expected.figure.value, "TTFT there");
  assert.equal(answer.figures["serving.ttft_s"].interval.length, 2);
  const { report } = await opened(answer.link);
  assert.equal(report.scenario.serving.prompt, expected.value);
  near(report.serving.ttft_s, expected.figure.value, "link");
  // Solving for a device count has the effects of an edit of it.
  const [inputs, args] = [{ model: "llama-3.1-8b", serving: null }, ["model=llama-3.1-8b", "serving=null"]];
  const fewest = command("solve", ...args, "cluster.devices=64:4096:8", "--until", "training.time_to_train_s<=60 day");
  const found = await answerOf("solve", {
    inputs,
    range: "cluster.devices=64:4096:8",
    until: ["training.time_to_train_s<=60 day"],
  });
  assert.equal(found.value, fewest.value);
  near((await opened(found.link)).report.training.time_to_train_s, fewest.figure.value, "link to the fewest");
  // The link states the inputs that kept their values although an edit of the unknown alone would move them.
  const range = "serving.prompt=1k:4M";
  const kept = command("solve", "training=null", range, "--until", "serving.ttft_s<=60");
  assert.notDeepEqual(kept.held, {});
  const about = await answerOf("solve", { inputs: { training: null }, range, until: ["serving.ttft_s<=60"] });
  assert.deepEqual([about.value, about.held], [kept.value, kept.held]);
  near((await opened(about.link)).report.serving.ttft_s, kept.figure.value, "link to what was held");
  const none = await answerOf("solve", {
    inputs: SMALL[0],
    range: "serving.prompt=1k:64k",
    until: ["serving.ttft_s<=1 us"],
  });
  assert.equal(none.value, null);
  assert.match(none.reason, /holds at neither end/);
});

test("sensitivity, calibrate, explain and evidence: the command line's answers and the figure's interval", async () => {
  const report = command("evaluate", ...SMALL[1]);
  const about = { inputs: SMALL[0], figure: "serving.tpot_s" };

  const moved = await answerOf("sensitivity", { ...about, top: 4 });
  const { inputs } = command("sensitivity", ...SMALL[1], "--figure", "serving.tpot_s");
  assert.deepEqual(
    moved.inputs.map(({ path }) => path),
    inputs.slice(0, 4).map(({ path }) => path),
  );
  assert.equal(moved.left_out, inputs.length - 4);

  const because = await answerOf("explain", { ...about, depth: 2 });
  const { explanations } = command("evaluate", ...SMALL[1], "--explain", "serving.tpot_s");
  const at = (path) => explanations.find((one) => one.path === path);
  assert.equal(because.derivation.formula, at("serving.tpot_s").formula);
  const [term] = because.derivation.terms;
  assert.equal(term.because.formula, at(term.origin).formula);
  assert.equal(term.because.terms[0].because, undefined);

  const measured = await answerOf("evidence", { ...about, top: 2 });
  const { runs } = command("evidence", ...SMALL[1], "--figure", "serving.tpot_s");
  assert.deepEqual(
    measured.runs.map(({ id }) => id),
    runs.slice(0, 2).map(({ id }) => id),
  );

  for (const { figures, link } of [moved, because, measured]) {
    assertFigure(figures, "serving.tpot_s", report, "serving.tpot_interval");
    near((await opened(link)).report.serving.tpot_s, report.serving.tpot_s, "link");
  }

  const calibrated = await answerOf("calibrate", { measured: [{ figure: "serving.tpot_s", value: "22 ms" }] });
  const said = JSON.parse(
    slipstickCommand(["calibrate", "-"], JSON.stringify({ measured: [{ figure: "serving.tpot_s", value: 0.022 }] })),
  );
  assert.equal(calibrated.measured[0].measured.text, "22 ms");
  near(calibrated.measured[0].computed, said.measured[0].computed, "computed");
  assert.equal(calibrated.calibrated.inputs[0].path, said.calibrated.inputs[0].path);
  // The link chooses the mapping again, as the command line does with the calibrated constant.
  const [{ path, to }] = said.calibrated.inputs;
  const expected = command("evaluate", `${path}=${to}`).serving.tpot_s;
  near((await opened(calibrated.calibrated.link)).report.serving.tpot_s, expected, "link, calibrated");
  assert.ok(Math.abs(expected / 0.022 - 1) < 0.01);
});

test("describe and presets find what the catalogue has; a config.json becomes a model", async () => {
  const found = await answerOf("describe", { words: "kv cache" });
  assert.ok(found.inputs.list.some(({ path }) => path === "serving.precision.kv_cache"));
  assert.ok(found.figures.list.some(({ path }) => path === "serving.kv_cache_bytes_per_token"));
  for (const words of ["kv cache", "TCO", "Serving TTFT"]) {
    const answer = await answerOf("describe", { words });
    const { inputs, outputs } = command("describe", ...words.split(" "));
    const paths = (entries) => entries.map(({ path }) => path);
    assert.deepEqual(
      [paths(answer.inputs.list), paths(answer.figures.list)],
      [paths(inputs), paths(outputs)].map((all) => all.slice(0, 40)),
      words,
    );
  }
  assert.ok(
    (await answerOf("presets", { kind: "cluster", words: "h100" })).presets.some(({ id }) => id === "dgx-h100"),
  );
  assert.deepEqual(
    await answerOf("presets", { kind: "cluster", id: "dgx-h100" }),
    command("presets", "cluster").find(({ id }) => id === "dgx-h100"),
  );
  const config = {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    hidden_size: 4096,
    intermediate_size: 14336,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    vocab_size: 128256,
    tie_word_embeddings: false,
  };
  const { model, parameters, link } = await answerOf("import_model", { config });
  // Embedding and head; per layer queries and outputs, keys and values, MLP and two norms; and the last norm.
  assert.equal(
    parameters,
    2 * 128256 * 4096 + 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) + 4096,
  );
  const direct = await answerOf("evaluate", { inputs: { model } });
  near(
    (await opened(link)).report.serving.kv_cache_bytes_per_token,
    direct.figures["serving.kv_cache_bytes_per_token"].value,
    "link",
  );
  assert.equal(direct.figures["serving.kv_cache_bytes_per_token"].value, 2 * 32 * 8 * 128 * 2);
});
