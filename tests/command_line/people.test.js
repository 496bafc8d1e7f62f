// Answers as people read them on a terminal, and JSON everywhere else.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ROOT } from "../support/module.js";

const SLIPSTICK = ROOT + "build/native/slipstick";
const run = (...args) => spawnSync(SLIPSTICK, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const report = (...args) => JSON.parse(run("evaluate", ...args).stdout);

/** The output on a terminal, which `script` emulates. */
function onTerminal(...args) {
  const quoted = [SLIPSTICK, ...args].map((word) => `'${word}'`).join(" ");
  const { stdout, status } = spawnSync("script", ["-qec", quoted, "/dev/null"], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "", TERM: "xterm" },
  });
  return { text: stdout.replaceAll("\r\n", "\n"), status };
}

test("evaluate prints the four answers, their parts and shares", () => {
  const { stdout, status } = run("evaluate", "--format", "table");
  assert.equal(status, 0);
  const { training, serving } = report();
  assert.match(stdout, /^Llama-3\.1-70B on 512 × H100 SXM5 80 GB \(DGX H100\)\n/);
  const days = (training.time_to_train_s / 86400).toFixed(0);
  assert.match(stdout, new RegExp(`^Training +15 T tokens +${days} days `, "m"));
  const ms = (seconds) => `${(seconds * 1000).toFixed(1)} ms`;
  const { low, high } = serving.tpot_interval;
  assert.match(
    stdout,
    new RegExp(
      `^Serving +16 requests per replica +${ms(serving.tpot_s)} +${ms(low)} to ${ms(high)} +per output token`,
      "m",
    ),
  );
  assert.match(
    stdout,
    new RegExp(`^Memory .* ${(serving.memory_bytes.total / 2 ** 30).toFixed(1)} GiB .* of 79\\.2 GiB`, "m"),
  );
  assert.match(stdout, /^Cost +manufacturing, per device +\$3,184 +\$[\d,]+ to \$[\d,]+ +price \$33,500 \(2024\), /m);
  const share = ((training.time_s.backward / training.step_time_s) * 100).toFixed(1);
  assert.match(stdout, new RegExp(`^  Backward +${training.time_s.backward.toPrecision(3)} s +${share} %  █+$`, "m"));
  assert.doesNotMatch(stdout, /\x1b/, "no colors but on a terminal");
});

test("evaluate says how the parts run and on how many devices", () => {
  const { stdout } = run(
    "evaluate",
    "--format",
    "table",
    "cluster=dgx-h100",
    "cluster.devices=64",
    "training.mapping=auto",
    "training.mapping.tp=8",
    "training.mapping.pp=2",
    "training.mapping.zero=1",
    "training.recompute=full",
    "serving.devices=8",
    "serving.mapping.tp=4",
  );
  assert.match(stdout, /^Training on 64 devices: tp=8 (cp=\d+ )?pp=2 .*zero=1 .*recompute=full$/m);
  assert.match(stdout, /^Serving on 8 of 64 devices: tp=4 replicas=2$/m);
});

test("describe finds inputs and figures by words", () => {
  const { inputs, outputs } = JSON.parse(run("describe", "KV", "precision").stdout);
  assert.deepEqual(
    inputs.map(({ path }) => path),
    ["serving.precision.kv_cache"],
  );
  assert.deepEqual(outputs, []);
  const { stdout } = run("describe", "kv", "precision", "--format", "table");
  assert.match(stdout, /^serving\.precision\.kv_cache +bf16  KV-cache precision: .*fp8/m);
  assert.match(run("describe", "no", "such", "words", "--format", "table").stdout, /^No input and no figure/);
});

test("a derivation as text needs a figure", () => {
  const { stderr, status } = run("evaluate", "--format", "text");
  assert.equal(status, 2);
  assert.match(stderr, /^--format text: Needs --explain PATH/);
});

test("an option with fixed names refuses others", () => {
  const refused = run("evaluate", "--format", "xml");
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^--format: Choose one of json\|table\|text, not xml/);
  for (const top of ["0", "-1", "2.5", "many"]) {
    const { stderr, status } = run("advise", "--top", top);
    assert.equal(status, 2, top);
    assert.match(stderr, /^--top: Enter a whole number from 1 to 1,000/);
  }
});

test("the parts of every figure add up to 100 %", () => {
  const { stdout } = run("evaluate", "--format", "table");
  const sections = stdout.split(/\n\n/).filter((text) => / %  ?█*$/m.test(text) && /^  /m.test(text));
  assert.equal(sections.length, 8);
  for (const section of sections) {
    const sum = [...section.matchAll(/([\d.]+) %(?:  █*)?$/gm)].reduce((total, [, share]) => total + Number(share), 0);
    assert.ok(Math.abs(sum - 100) < 0.6, `${sum}: ${section}`);
  }
});

test("parts that are off or do not fit are reported", () => {
  const { stdout, status } = run(
    "evaluate",
    "--format",
    "table",
    "model=llama-3.1-405b",
    "cluster=dgx-h100",
    "training=null",
    "serving.devices=1",
    "serving.mapping.tp=1",
  );
  assert.equal(status, 0);
  assert.match(stdout, /^Training +off$/m);
  assert.match(stdout, /^Infeasible:\n  Out of memory: /m);
});

// Llama-3.1-70B on 512 devices: a million tokens fit if the sequence is split eight ways.
test("a fitting mapping is found where the sequence must be split", () => {
  const { stdout } = run("evaluate", "--format", "table", "version=1", "training.sequence=1M");
  assert.match(
    stdout,
    /Out of memory: the most loaded stage needs 3\.\d+ TiB of 79\.2 GiB; full recomputation and CP 8 in place of data parallelism would fit/,
  );
  const split = report(
    "version=1",
    "training.sequence=1M",
    "training.recompute=full",
    "training.mapping.cp=8",
    "training.mapping.dp=2",
  );
  assert.equal(split.training.feasible, true);
});

// 80 layers x 2 x 8 heads x 128 x 2 bytes x 40,256 tokens are 12.29 GiB, whatever the batch.
test("if one request does not fit, the message states the KV cache of one request", () => {
  for (const batch of [1, 32]) {
    const { stdout } = run(
      "evaluate",
      "--format",
      "table",
      "cluster=single-h100-sxm5-80gb",
      "training=null",
      "model=llama-3.1-70b",
      "serving.prompt=40000",
      `serving.batch=${batch}`,
    );
    assert.match(stdout, /one request needs 12\.29 GiB of KV cache per device/);
  }
});

test("an unknown input is not moved where its value cannot stand", () => {
  const fixes = (assignment) =>
    JSON.parse(run("evaluate", assignment).stdout).issues[0].fixes.map(({ label }) => label);
  assert.deepEqual(fixes("modle=llama"), ["leave out modle"]);
  assert.equal(fixes("modle=llama-3.1-8b").length, 2);
});

test("an option of another command is refused, --json never", () => {
  const { stderr, status } = run("evaluate", "--rate", "5");
  assert.equal(status, 2);
  assert.match(stderr, /--rate: Not an option of evaluate/);
  assert.equal(run("describe", "--json").status, 0);
});

test("a study is its points, its checks and its words", () => {
  const { stdout, status } = run("study", "gemv", "--format", "table");
  assert.equal(status, 0);
  assert.match(stdout, /^  4,096 × 4,096 +[\d.]+ µs +measured: 26\.2 µs$/m);
  assert.match(stdout, /^5 of 6 checks hold\.\n  Does not hold: /m);
  for (const title of ["Paper", "The paper says", "Our reading", "How it is done here"])
    assert.match(stdout, new RegExp(`^${title}: `, "m"));
  assert.match(run("study", "training-memory", "--format", "table").stdout, /^  22B, none +\d+ GiB +infeasible$/m);
});

test("a terminal gets the table in color, a pipe and --json the report", () => {
  const table = onTerminal("evaluate", "model=llama-3.1-8b");
  assert.equal(table.status, 0);
  assert.match(table.text, /\x1b\[1mTraining\x1b\[0m/);
  assert.deepEqual(
    JSON.parse(onTerminal("evaluate", "model=llama-3.1-8b", "--json").text),
    report("model=llama-3.1-8b"),
  );
  assert.equal(run("evaluate", "--json").stdout, run("evaluate").stdout);
  assert.match(onTerminal("evaluate", "--explain", "serving.tpot_s").text, /^# Time per output token/);
});

test("NO_COLOR keeps a terminal plain", () => {
  const { stdout } = spawnSync("script", ["-qec", `${SLIPSTICK} evaluate`, "/dev/null"], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  assert.match(stdout, /^Training /m);
  assert.doesNotMatch(stdout, /\x1b\[/);
});

test("a wrong request names its issues and exits with 2, in both forms", () => {
  const table = run("evaluate", "--format", "table", "training.mapping.tp=3");
  assert.equal(table.status, 2);
  assert.equal(table.stdout, "");
  assert.match(table.stderr, /training\.mapping\.tp: .*\n  fix: training\.mapping\.tp=/);
  assert.ok(JSON.parse(run("evaluate", "training.mapping.tp=3").stdout).issues.length > 0);
});

test("search lists the best with their differences, and the frontier", () => {
  const scenario = ["search", "model=llama-3.1-8b", "cluster=dgx-h100", "--top", "4", "--pareto", "memory_bytes.total"];
  const { best, space, feasible, pareto } = JSON.parse(run(...scenario).stdout);
  const { stdout } = run(...scenario, "--format", "table");
  const shown = (count) => count.toLocaleString("en");
  assert.ok(
    stdout.startsWith(`${shown(space)} configurations, ${shown(feasible)} of them feasible; rejected: `),
    stdout.slice(0, 100),
  );
  assert.match(stdout, /^ +Step +Memory +/m);
  const sections = stdout.split("\n\n");
  assert.equal(sections[1].match(/^ +[\d.]+ s /gm).length, best.length);
  assert.equal(sections[2].match(/^ +[\d.]+ s /gm).length, pareto.length);
});

// Prompts of 1,000 and answers of 500 tokens at 1 and 4 $ per 1 M earn 0.003 $ per request; at 1 request/s, 10.8 $ per
// hour.
test("size says from which traffic on a purchase pays for itself", () => {
  const words = ["serving.prompt=1000", "serving.output=500", "--rate", "10", "--clusters", "dgx-h100"];
  const { stdout } = run("size", ...words, "--prices", "1,1,4", "--format", "table");
  const [{ cost }] = JSON.parse(run("size", ...words).stdout).clusters;
  const [, rate] =
    /^dgx-h100 pays for itself from ([\d.]+) requests\/s on, [\d,]+ output tokens a day; it serves at most [\d.]+$/m.exec(
      stdout,
    );
  assert.ok(Math.abs(Number(rate) / (cost.usd_per_hour / 10.8) - 1) < 0.01, `${rate}: ${cost.usd_per_hour}`);
});

test("size lists the cheapest first, and why others do not hold", () => {
  const question = [
    "size",
    "serving.prompt=2000",
    "serving.output=300",
    "--rate",
    "40",
    "--ttft",
    "800 ms",
    "--tpot",
    "30 ms",
    "--clusters",
    "dgx-h100,dgx-h200,single-t4",
  ];
  const { clusters } = JSON.parse(run(...question).stdout);
  const lines = run(...question, "--format", "table").stdout.split("\n");
  assert.match(lines[0], /^Cluster +Per hour +Per 1 M output /);
  const holding = clusters.filter(({ holds }) => holds).sort((a, b) => a.cost.usd_per_hour - b.cost.usd_per_hour);
  holding.forEach(({ cluster, cost }, i) =>
    assert.match(
      lines[i + 1],
      new RegExp(`^${cluster} +\\$${cost.usd_per_hour.toFixed(cost.usd_per_hour < 100 ? 2 : 0)} `),
    ),
  );
  for (const { cluster, message } of clusters.filter(({ holds }) => !holds))
    assert.ok(lines.some((line) => line.startsWith(cluster) && line.endsWith(message)));
});

test("size names the device of a prefill pool of another kind", () => {
  const question = ["size", "model=llama-3.1-8b", "--rate", "20", "--ttft", "1 s", "--clusters", "dgx-h100"];
  const asked = [...question, "serving.disaggregated.prefill_device=l40s", "--format", "table"];
  assert.match(run(...asked).stdout, /\ndgx-h100 on two pools: \d+.* prefill on L40S.*, \d+.* decode, /);
});

test("size shows the latencies that its targets are about", () => {
  const question = ["size", "model=llama-3.1-8b", "--rate", "40", "--ttft", "500 ms", "--clusters", "dgx-h100"];
  const asked = [...question, "--percentile", "99", "--pools", "one"];
  const [{ simulated, at_peak: mean }] = JSON.parse(run(...asked).stdout).clusters;
  const [head, row] = run(...asked, "--format", "table").stdout.split("\n");
  assert.match(head, / TTFT p99 +TPOT p99 /);
  assert.match(row, new RegExp(` ${(simulated.tpot_s * 1000).toPrecision(3)} ms `));
  assert.ok(simulated.ttft_s > mean.ttft_s);
  assert.match(run(...question, "--format", "table").stdout, / TTFT +TPOT /);
});

test("size says which target lies inside the interval of measurements", () => {
  const question = ["size", "model=llama-3.3-70b", "serving.prompt=2000", "serving.output=300", "--rate", "40"];
  const asked = [...question, "--clusters", "dgx-h200", "--pools", "one"];
  const remarks = (target) => JSON.parse(run(...asked, "--tpot", target).stdout).clusters[0].remarks;
  const [queue, ...others] = remarks("10 s"); // a warning of the answer itself
  assert.match(queue, /is spent in a queue: /);
  assert.deepEqual(others, []);
  const [remark] = remarks("30 ms");
  assert.match(remark, /^TPOT may miss its target of 30 ms: its 90 % interval is [\d.]+ ms to [\d.]+ ms$/);
  assert.ok(run(...asked, "--tpot", "30 ms", "--format", "table").stdout.includes(`dgx-h200: ${remark}\n`));
});

test("size shows each class's latencies and share, and how to write a mixture", () => {
  const question = ["size", "--rate", "20", "--clusters", "dgx-h100", "--mixture"];
  const classes = JSON.parse(run(...question, "3:1000/300,1:8k/200").stdout).clusters[0].classes;
  const { stdout } = run(...question, "3:1000/300,1:8k/200", "--format", "table");
  const lines = stdout.split("\n").slice(stdout.split("\n").indexOf("dgx-h100 by class of requests:") + 1);
  assert.match(lines[0], /^ {2}Prompt → output +Requests +TTFT +TPOT +Tokens +Cost +Per 1 M output$/);
  assert.match(lines[1], new RegExp(`^ {2}1,000 → 300 +75 % +${(classes[0].ttft_s * 1000).toPrecision(3)} ms `));
  assert.match(lines[2], /^ {2}8,192 → 200 +25 % /, "k is 1,024 of a length");
  for (const wrong of ["chat", "3:1000", "1000/300", "3:1000/300,"]) {
    const { stdout: issues, status } = run(...question, wrong);
    assert.equal(status, wrong.endsWith(",") ? 0 : 2, wrong); // a trailing comma is allowed, as in other lists
    if (status) assert.equal(JSON.parse(issues).issues[0].path, "--mixture", wrong);
  }
});

test("compare shows scenarios side by side: their differences, and each figure as evaluate has it", () => {
  const answer = JSON.parse(
    run(
      "compare",
      "model=llama-3.1-8b",
      "--against",
      "cluster=dgx-b200",
      "--against",
      "serving.batch=64&serving.prompt=1024",
    ).stdout,
  );
  assert.deepEqual(answer.columns, ["scenario", "cluster=dgx-b200", "serving.batch=64&serving.prompt=1024"]);
  const input = (path) => answer.inputs.find((one) => one.path === path)?.values;
  assert.deepEqual(input("cluster.preset"), ["dgx-h100", "dgx-b200", "dgx-h100"]);
  assert.deepEqual(input("serving.batch"), [32, 32, 64]);
  assert.deepEqual(input("serving.prompt"), [2048, 2048, 1024]);
  assert.ok(
    !answer.inputs.some(({ path }) => path.startsWith("cluster.device.")),
    "all of a cluster follows from its name",
  );
  const figure = (path) => answer.figures.find((one) => one.path === path).values;
  assert.equal(figure("serving.tpot_s")[1], report("model=llama-3.1-8b", "cluster=dgx-b200").serving.tpot_s);
  assert.equal(figure("training.step_time_s")[0], report("model=llama-3.1-8b").training.step_time_s);
});

test("what all compared scenarios say holds beside a change of the preset above it", () => {
  const devices = (...changes) =>
    JSON.parse(
      run("compare", "model=llama-3.1-8b", "cluster.devices=64", ...changes.flatMap((one) => ["--against", one]))
        .stdout,
    ).inputs.find(({ path }) => path === "cluster.devices")?.values;
  assert.equal(devices("cluster=dgx-b200", "cluster.preset=dgx-a100"), undefined, "64 in all");
  assert.deepEqual(devices("cluster=dgx-b200&cluster.devices=16"), [64, 16]);
});

test("compare names the member of a list that differs, in its unit, and an object by its numbers", () => {
  const against = ["cost.device.dies.0.area=400 mm^2", "partition.chiplets=2"].flatMap((one) => ["--against", one]);
  const { stdout } = run("compare", "training=null", ...against, "--format", "table");
  assert.match(stdout, /^cost\.device\.dies\.0\.area +814 mm\^2 +400 mm\^2 +814 mm\^2$/m);
  assert.match(stdout, /^partition +– +– +chiplets 2, overhead 0\.1, bandwidth 0 GB\/s, io_share 0$/m);
  assert.doesNotMatch(stdout, /[{}"]/);
});

test("compare says what does not fit and what a report warns of, images included", () => {
  const images = ["training=null", "serving=null", "diffusion.model=flux.1-dev", "cluster=single-rtx-4090"];
  const { infeasible } = JSON.parse(run("compare", ...images, "--against", "cluster=single-h100-sxm5-80gb").stdout);
  assert.deepEqual(
    infeasible.map(({ column, message }) => [column, /^Out of memory/u.test(message)]),
    [["scenario", true]],
  );
  const chat = ["training=null", "model=llama-3.1-8b", "cluster=single-m4-max", "serving.engine=mlx"];
  const { warnings } = JSON.parse(run("compare", ...chat, "--against", "serving.engine=vllm").stdout);
  assert.deepEqual([...new Set(warnings.map(({ column }) => column))], ["serving.engine=vllm"]);
  assert.match(warnings[0].message, /^vLLM does not run on M4 Max/u);
});

test("design shows what it found in the unit of the input, in a few digits", () => {
  const asked = ["training=null", "cluster.device.design=h100-like", "cluster.device.design.area=400 mm^2:850 mm^2"];
  const { stdout } = run("design", ...asked, "--objective", "serving.tpot_s", "--format", "table");
  assert.match(stdout, /^ +cluster\.device\.design\.area +\d{3}(\.\d{1,2})? mm\^2$/m);
  assert.match(stdout, /^ +More of +Now +Change +Changes it by$/m);
});

test("search titles its figure whatever it varies", () => {
  const { stdout } = run(
    ...["search", "training=null", "--for", "serving", "--axis", "partition.chiplets=1,2", "--axis"],
    ...["cost.device.package.preset=interposer,bridge", "--objective", "cost_usd_per_million_tokens"],
    ...["--format", "table"],
  );
  assert.match(stdout, /^ +Cost per 1 M tokens +tp/m);
  assert.match(stdout, /^ +\$\d/m);
});

test("compare reads files, prints a table, and wants two scenarios", () => {
  const folder = mkdtempSync(join(tmpdir(), "slipstick-"));
  const [a, b] = ["a.json", "b.json"].map((name) => join(folder, name));
  writeFileSync(a, JSON.stringify({ model: { preset: "llama-3.1-8b" }, training: null }));
  writeFileSync(b, JSON.stringify({ model: { preset: "llama-3.1-70b" }, training: null }));
  const { stdout, status } = run("compare", a, b, "serving.batch=8", "--format", "table");
  assert.equal(status, 0);
  assert.match(stdout, /^model\.preset +llama-3\.1-8b +llama-3\.1-70b$/m);
  assert.match(stdout, /^Time per output token \(TPOT\) +[\d.]+ ms +[\d.]+ ms$/m);
  assert.equal(run("compare").status, 2);
  assert.equal(run("compare", a, join(folder, "none.json")).status, 2);
});

test("solve says the limit and its figures; sensitivity a row per input, in the units of its fields", () => {
  const until = ["--until", "serving.tpot_s<=30 ms", "--until", "serving.ttft_s<=1 s"];
  const { value } = JSON.parse(run("solve", "serving.batch=1:512", ...until).stdout);
  const { stdout } = run("solve", "serving.batch=1:512", ...until, "--format", "table");
  const lines = stdout.split("\n");
  assert.equal(lines[0], `serving.batch at most ${value}`);
  assert.match(lines[1], /^  Time per output token \(TPOT\) +[\d.]+ ms  fails first$/);
  assert.match(lines[2], /^  Time to first token \(TTFT\) +[\d.]+ ms$/);
  assert.match(
    run("solve", "serving.batch=1:4", ...until, "--format", "table").stdout,
    /^serving\.batch anywhere in the range; at 4\n/,
  );
  // The best checkpoint interval is an hour: with a minute or a day the run takes longer.
  const wall = ["version=3", "serving=null", "--until", "training.run.wall_time_s>=2.75e7 s", "--format", "table"];
  assert.match(
    run("solve", "training.interruptions.checkpoint_interval=60 s:86400 s", ...wall).stdout,
    /^training\.interruptions\.checkpoint_interval at most [\d.,]+ s, or at least [\d.,]+ s\n/,
  );
  assert.match(
    run("solve", "training=null", "serving.prompt=1k:4M", "--until", "serving.ttft_s<=60 s", "--format", "table")
      .stdout,
    /^ {2}With serving\.concurrency=32$/m,
    "what stayed where an edit of the prompt alone would move it",
  );
  assert.match(
    run("solve", "serving.batch=1:4", "--until", "serving.tpot_s<=1 us", "--format", "table").stdout,
    /^No value of serving\.batch meets the conditions: /,
  );
  const rows = run("sensitivity", "--figure", "serving.tpot_s", "--format", "table").stdout;
  assert.match(rows, /^Time per output token \(TPOT\) now: [\d.]+ ms\n\nInput +Now +− 20 % +\+ 20 % +Elasticity\n/);
  assert.match(rows, /^cluster\.networks\.0\.bandwidth +450 GB\/s +[\d.]+ ms +[\d.]+ ms +-[\d.]+$/m);
  const hour = run("sensitivity", "serving=null", "--figure", "cost.device_hour_usd", "--format", "table").stdout;
  assert.match(hour, /^cost\.system\.utilisation +0\.9 +\$2\.\d\d +– +-1$/m, "90 % and a fifth more are no share");
  const exact = run("sensitivity", "--figure", "cost.device_usd", "--share", "0", "--format", "table").stdout;
  // The module's share of the sum: 435 of 3,184 $.
  assert.match(exact, /Input +Now +Elasticity\n/);
  assert.match(exact, /^cost\.device\.module +435 \$ +0\.137$/m);
});

test("presets lists ids and names; an unknown kind is a wrong request that names the kinds", () => {
  assert.match(run("presets", "device", "--format", "table").stdout, /^h100-sxm5-80gb +H100 SXM5 80 GB +device$/m);
  const unknown = run("presets", "devices");
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /^kind: Unknown kind "devices"; the kinds are .*\bdevice\b/);
});
