// The words of the core: the field's terms in plain English, in every text for users and readers of the code.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { filesBelow } from "../support/files.js";
import { ROOT, slipstickCommand } from "../support/module.js";

// Banned phrases, and what to say instead.
const BANNED = [
  [/\bheld back by\b/i, "compute-bound, memory-bandwidth-bound, communication-bound, latency-bound"],
  [/\bpower over IT power\b/i, "PUE"],
  [/\bwritten off\b/i, "depreciation period"],
  [/\ba million tokens\b/i, "per 1 M output tokens"],
  [/\btokens a second\b/i, "tokens/s, throughput"],
  [/\ba second and (device|user)\b/i, "per GPU, per user"],
  [/\b(a|of a) device-hour\b/i, "per GPU-hour"],
  [/\bas it comes out\b|\bcomes? out (at|as)\b/i, "plain word order"],
  [/\bnot asked\b|\bis asked\b|\basks? for it\b/i, "off"],
  [/\bthere is no such (input|command|option|figure)\b/i, "Unknown …"],
  [/; got\b/, "one sentence that says what to enter"],
  [/\bis needed:/, "Required: …"],
  [/\bwhat to call\b/i, "Name"],
  [/\bthat the other members override\b/i, "Preset; fields below override it"],
  [/\bdense arithmetic rates\b/i, "Dense peak throughput"],
  [/\bthe same (of|a)\b/i, "the same for, per"],
  [/\b(whence|whither)\b/i, "from where, to where"],
  [/\btokens (that ask|asked)\b/i, "query length, KV length"],
  [/\bfullest (stage|device)\b/i, "most loaded stage, most loaded GPU"],
  [/\bnine in ten\b/i, "90 % interval"],
  [/\bgood with units off\b/i, "good, partly disabled (harvested)"],
  [/\b(laid|lays) (over|under|in)\b/i, "merged, applied"],
  [/\btold\b/i, "say who does it"],
  [/\b(split|found|searched) anew\b/i, "at every point"],
  [/\bwill do\b|\bwould do\b/i, "is feasible, is valid"],
  [/\bdearer\b/i, "more expensive"],
  [/\b(read|done|left|made|served) by nobody\b|\bnobody's\b/i, "plain word order"],
  [/\b(GB|GiB|MB|kB|TB|Gb|Tb|GT)\/s an? (?!year)\w/, "per"],
  [/\d \$ an? \w|\bdollars? an? \w/i, "per"],
  [/\b(bytes?|tokens?|FLOPs?) an? (parameter|token|sequence|device|second|layer)\b/i, "per"],
  [
    /\b[Cc]olour|\b[Cc]entre\b|\b[Nn]eighbour|\b[Ff]avour|\b[Bb]ehaviour|\b[Mm]odell(ed|ing)\b|\b[Uu]tilisation\b/,
    "American spelling",
  ],
  [
    /\b([Oo]ptimi|[Mm]inimi|[Mm]aximi|[Ss]peciali|[Qq]uanti|[Nn]ormali|[Rr]ecogni|[Ss]eriali|[Ss]ynchroni|[Pp]aralleli|[Ii]nitiali)s(e|es|ed|ing|ation)\b/,
    "American spelling",
  ],
];

// Banned only in comments and texts of the core; prose may use them.
const BANNED_IN_CORE = [...BANNED, [/\bwhat is\b(?!.*\?)/i, "name the thing"]];

// Helps of inputs, by path.
const HELPS = {
  "cost.system.pue": /^PUE\b/,
  "cost.lifetime": /^Depreciation period/,
  "cost.device.design.volume": /^Production volume/,
  "cost.device.dies.*.units": /^Repeated blocks on the die/,
  "cost.device.dies.*.node.defect_density": /killer defects/,
  "cost": /^Cost question; null: off$/,
  "training": /^Training question; null: off$/,
  "serving": /^Serving question; null: off$/,
  "cluster.device.tdp": /TDP/,
  "cluster.device.peak": /^Dense peak throughput/,
  "cluster.networks.*.size": /domain size/i,
  "cluster.networks.*.in_network_reduction": /in-network reduction.*SHARP/i,
  "model.moe.top_k": /experts per token \(top-k\)/i,
  "training.tokens": /training tokens/i,
  "training.recompute": /activation recomputation/i,
  "training.mapping.ep": /expert parallelism/i,
  "training.mapping.expert_tp": /expert tensor parallel/i,
  "training.mapping.micro_batch": /micro-batch size/i,
  "training.mapping.virtual_stages": /virtual pipeline stages/i,
  "training.mapping.cp_kind": /context-parallel/i,
  "serving.prompt": /prompt tokens/i,
  "serving.output": /output tokens/i,
  "serving.batch": /concurrent requests per replica/i,
  "serving.requests_per_s": /arrival rate/i,
  "serving.concurrency": /closed loop/i,
  "serving.prefix_hit": /prefix-cache hit rate/i,
  "serving.prefill_chunk": /chunked[ -]prefill|prefill chunk/i,
  "serving.mapping.ep": /expert parallelism/i,
  "serving.mapping.attention_dp": /data-parallel attention|DP attention/i,
  "serving.precision.weights": /weight precision/i,
  "serving.precision.kv_cache": /KV-cache precision/i,
  "serving.precision.activations": /activation precision/i,
};
// Helps of every path with this ending.
const HELPS_OF_ENDS = { ".name": /^Name\b/, ".preset": /^Preset; fields below override it/ };

// Titles of outputs, by path.
const TITLES = {
  "training.step_time_s": "Step time",
  "training.tokens_per_s_per_device": "Throughput per GPU (tokens/s)",
  "training.model_flops_utilization": "Model FLOPs utilization (MFU)",
  "training.memory_bytes.total": "Peak memory per GPU",
  "training.tokens_per_usd": "Tokens per dollar (training)",
  "serving.ttft_s": "Time to first token (TTFT)",
  "serving.tpot_s": "Time per output token (TPOT)",
  "serving.request_latency_s": "End-to-end latency",
  "serving.tokens_per_s": "Throughput (tokens/s)",
  "serving.tokens_per_s_per_device": "Throughput per GPU (tokens/s)",
  "serving.tokens_per_s_per_user": "Interactivity (tokens/s/user)",
  "serving.batch": "Concurrent requests per replica",
  "serving.kv_cache_bytes_per_token": "KV cache per token (whole model)",
  "serving.kv_cache_bytes": "KV cache per GPU, full batch",
  "serving.max_batch": "Max. concurrent sequences",
  "serving.max_context": "Max. context (one request)",
  "serving.cost_usd_per_million_tokens": "Cost per 1 M output tokens",
  "serving.energy_j_per_token": "Energy per output token",
  "serving.tokens_per_j": "Tokens per joule (serving)",
  "cost.device_usd": "Manufacturing cost per device",
  "cost.system_usd": "Total cost of ownership",
  "cost.device_hour_usd": "Cost per GPU-hour",
  "cost.flops_per_usd": "Peak FLOP per dollar",
  "cost.dies.*.cost_usd": "Cost per good die",
  "cost.dies.*.dies_per_wafer": "Gross dies per wafer",
  "cost.carbon.embodied_g": "Embodied carbon per device",
};

// Messages of issues, by the wrong assignment.
const MESSAGES = {
  "serving.batch=-5": "Enter a whole number from 1 to 16,777,216",
  "serving.batch=1e999": "Enter a whole number from 1 to 16,777,216",
  "cluster.device.peak.bf16=1e300 TFLOP/s": /^Too large: enter a number of at most /,
  "cluster.device.memory.capacity=80 W": "Enter a quantity in B, not in W",
  "serving.bathc=4": "Unknown input",
  "model=no-such-model": 'Unknown model "no-such-model"',
  'training.mapping.zero="x"': /^Enter a whole number from 0 to 3$/,
};

// Comments (those of several lines as one) and quoted texts with a space; quoted words without one are names.
function textsOfSource(path) {
  const texts = [];
  let comment = "";
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const whole = line.match(/^\s*\/\/ ?(.*)$/);
    if (whole) {
      comment += `${whole[1]} `;
      continue;
    }
    if (comment) texts.push(comment);
    comment = "";
    for (const [, text] of line.matchAll(/"((?:[^"\\]|\\.)*)"/g)) if (text.includes(" ")) texts.push(text);
    const tail = line.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/\/\/ (.*)$/);
    if (tail) texts.push(tail[1]);
  }
  if (comment) texts.push(comment);
  return texts;
}

// Every text of a preset except the papers' own words.
function textsOfPreset(value, key = "") {
  if (key === "paper_says") return [];
  if (typeof value === "string") return value.includes(" ") ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([member, below]) => textsOfPreset(below, member));
}

// Names in quotes or backquotes, and options, are ids and not checked.
const withoutIds = (text) => text.replace(/(["`])[^"`\s]*\1|--\w+/g, "");

const faultsOf = (where, texts, banned = BANNED_IN_CORE) =>
  texts.flatMap((text) =>
    banned
      .filter(([phrase]) => phrase.test(withoutIds(text)))
      .map(([phrase, say]) => `${where}: "${text.trim().slice(0, 120)}" has ${phrase}: say ${say}`),
  );

const CORE = join(ROOT, "core");
const described = JSON.parse(slipstickCommand(["describe"]));

test("comments and texts of the core", () => {
  const faults = filesBelow(CORE, /\.(h|cc)$/).flatMap((path) =>
    faultsOf(path.slice(ROOT.length), textsOfSource(path)),
  );
  assert.deepEqual(faults, []);
});

test("texts of the presets and the READMEs", () => {
  const presets = filesBelow(join(CORE, "presets"), /\.json$/);
  const faults = presets.flatMap((path) =>
    faultsOf(path.slice(ROOT.length), textsOfPreset(JSON.parse(readFileSync(path, "utf8")))),
  );
  for (const path of [
    "README.md",
    "core/README.md",
    "web/README.md",
    "wasm/README.md",
    "tests/README.md",
    "tests/validation/README.md",
    "tests/benchmark/README.md",
    ".github/CONTRIBUTING.md",
    ".github/CHANGELOG.md",
  ]) {
    const paragraphs = readFileSync(join(ROOT, path), "utf8")
      .split(/\n\s*\n/)
      .map((paragraph) => paragraph.replace(/\n/g, " "));
    faults.push(...faultsOf(path, paragraphs, BANNED));
  }
  assert.deepEqual(faults, []);
});

// Banned on the page: its texts are tables and lessons.
const BANNED_ON_THE_PAGE = [
  ...BANNED,
  [/\bdoes not fit: more requests\b|\bis no (input|scenario|JSON)\b/i, "Unknown input, Not a scenario file"],
  [/\bthe bill\b(?! of)/i, "bill of materials, manufacturing cost"],
  [/\b(draws|guesses|guessed)\b/i, "Monte-Carlo samples, uncertain inputs"],
  [/\bthe front\b/i, "Pareto frontier"],
  [
    /\b(how sure|best by|go on|take it with you|teach with it|take away|set the scene|ask it)\b/i,
    "the page's table of words",
  ],
  [/\bready questions\b|\bwhat must (hold|come out)\b|\bwhat matters\b/i, "Examples, Constraint, Checks, Sensitivity"],
  [/\b(other|first) cop(y|ies)\b/i, "data-parallel replicas"],
  [/\bpart by part\b/i, "by component"],
  [/\barithmetic utili[sz]ation\b|\barithmetic rate\b/i, "utilization, throughput"],
  [/\blegal (way|mapping)/i, "valid mappings"],
];
const tableOf = async (path, name) => Object.entries((await import(join(ROOT, path)))[name]);

test("texts of the page", async () => {
  const tables = { "web/text/english.js": await tableOf("web/text/english.js", "english") };
  for (const path of filesBelow(join(ROOT, "web"), /^texts\.js$/))
    tables[path.slice(ROOT.length)] = await tableOf(path.slice(ROOT.length), "texts");
  const faults = Object.entries(tables).flatMap(([path, texts]) =>
    texts.flatMap(([key, text]) => faultsOf(`${path} ${key}`, [text.replace(/\{[^}]*\}/g, "")], BANNED_ON_THE_PAGE)),
  );
  const html = readFileSync(join(ROOT, "web/index.html"), "utf8").replace(/<[^>]*>/g, " ");
  assert.deepEqual([...faults, ...faultsOf("web/index.html", [html], BANNED_ON_THE_PAGE)], []);
});

test("texts of the lessons", () => {
  const TERMS = BANNED_ON_THE_PAGE.filter(([, say]) => say !== "American spelling");
  const lessons = filesBelow(join(ROOT, "web/lessons"), /\.json$/);
  assert.deepEqual(
    lessons.flatMap((path) =>
      faultsOf(path.slice(ROOT.length), textsOfPreset(JSON.parse(readFileSync(path, "utf8"))), TERMS),
    ),
    [],
  );
});

test("what describe says of inputs and outputs", () => {
  const texts = [
    ...described.inputs.map(({ path, help }) => [path, help]),
    ...described.outputs.map(({ path, title }) => [path, title ?? ""]),
  ];
  assert.deepEqual(
    texts.flatMap(([path, text]) => faultsOf(path, [text])),
    [],
  );
});

test("explanations of the golden requests", () => {
  const folder = join(ROOT, "tests/golden");
  const requests = readdirSync(folder).filter((name) => name.endsWith(".request.json"));
  const faults = requests.flatMap((name) => {
    const report = JSON.parse(
      slipstickCommand(["evaluate", "-", "--explain", "*"], readFileSync(join(folder, name), "utf8")),
    );
    return report.explanations.flatMap(({ path, title, note }) => faultsOf(`${name} ${path}`, [title, note]));
  });
  assert.deepEqual([...new Set(faults)], []);
});

test("helps of inputs use the field's terms", () => {
  const helps = new Map(described.inputs.map(({ path, help }) => [path, help]));
  const wrong = Object.entries(HELPS).flatMap(([path, says]) =>
    says.test(helps.get(path) ?? "") ? [] : [`${path}: "${helps.get(path)}" is not ${says}`],
  );
  for (const [path, help] of helps) {
    for (const [end, says] of Object.entries(HELPS_OF_ENDS))
      if (path.endsWith(end) && !says.test(help)) wrong.push(`${path}: "${help}" is not ${says}`);
  }
  assert.deepEqual(wrong, []);
});

test("titles of outputs use the field's terms", () => {
  const titles = new Map(described.outputs.map(({ path, title }) => [path, title]));
  for (const [path, title] of Object.entries(TITLES)) assert.equal(titles.get(path), title, path);
});

test("an issue says in one plain sentence what to enter", () => {
  for (const [assignment, says] of Object.entries(MESSAGES)) {
    const { issues } = JSON.parse(slipstickCommand(["evaluate", assignment]));
    assert.ok(issues?.length > 0, assignment);
    if (typeof says === "string") assert.equal(issues[0].message, says, assignment);
    else assert.match(issues[0].message, says, assignment);
  }
});
