// Follows CONTRIBUTING's recipes for a GPU and for a family of GPUs in a copy of the catalogue: JSON files only, no
// C++. Embeds the catalogue again and links it with the built core.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ROOT } from "../support/module.js";

const BUILD = join(ROOT, "build/native");

const KERNELS = {
  name: "Rubin",
  preset: "blackwell",
  rowwise: { launch: 1.3 },
  sources: { "rowwise.launch": "made up for this test: twice that of the families before" },
};
const DEVICE = {
  name: "Rubin",
  vendor: "NVIDIA",
  year: 2026,
  architecture: "rubin",
  peak: { fp32: "130 TFLOP/s", bf16: "4000 TFLOP/s", fp16: "4000 TFLOP/s", fp8: "17500 TFLOP/s", fp4: "35000 TFLOP/s" },
  units: 224,
  clock: "1.9 GHz",
  memory: { technology: "HBM4", capacity: "288 GB", bandwidth: "22 TB/s" },
  caches: [{ name: "L2", capacity: "256 MiB" }],
  tdp: "1800 W",
  idle: "150 W",
  die: { area: "800 mm^2", node: "3nm", count: 2 },
  sources: { "peak, memory, tdp": "made up for this test" },
};
const CLUSTER = {
  name: "Rubin, 72 in a domain",
  device: { preset: "rubin" },
  devices: 72,
  networks: [
    { name: "NVLink 6", fabric: "nvlink", topology: "switch", size: 72, bandwidth: "1800 GB/s", latency: "1 us" },
  ],
  sources: { networks: "made up for this test" },
};
const CARD = {
  name: "H150",
  vendor: "NVIDIA",
  year: 2024,
  architecture: "hopper",
  peak: { fp32: "100 TFLOP/s", bf16: "1500 TFLOP/s", fp16: "1500 TFLOP/s", fp8: "3000 TFLOP/s" },
  units: 180,
  clock: "1.9 GHz",
  memory: { technology: "HBM3E", capacity: "120 GB", bandwidth: "5000 GB/s" },
  caches: [{ name: "L2", capacity: "60 MiB" }],
  tdp: "800 W",
  idle: "80 W",
  die: { area: "800 mm^2", node: "4nm", count: 1 },
  sources: { "peak, memory, tdp": "made up for this test" },
};
const BILL = {
  name: "H150",
  dies: [{ name: "GPU", units: 192, unit_area: "3 mm^2", spare_units: 12 }],
  memory: { preset: "hbm3e", stacks: 5, stack_capacity: "24 GB" },
  package: { preset: "interposer", price: "735 $" },
  price: "35000 $",
  sources: { price: "made up for this test" },
};

/** A slipstick with these files added to the catalogue. */
function buildWith(scratch, files) {
  const presets = join(scratch, "presets");
  cpSync(join(ROOT, "core/presets"), presets, { recursive: true });
  for (const [path, entry] of Object.entries(files)) writeFileSync(join(presets, path), JSON.stringify(entry));
  const all = readdirSync(presets, { recursive: true })
    .filter((path) => path.endsWith(".json"))
    .map((path) => join(presets, path));
  const texts = join(scratch, "preset_texts.cc");
  const program = join(scratch, "slipstick");
  execFileSync("python3", [join(ROOT, "core/embed_presets.py"), texts, ...all]);
  const compiler = /^CMAKE_CXX_COMPILER:\w+=(.*)$/m.exec(readFileSync(join(BUILD, "CMakeCache.txt"), "utf8"))[1];
  const commands = join(BUILD, "core/CMakeFiles/slipstick.dir");
  const objects = readdirSync(commands, { recursive: true })
    .filter((file) => file.endsWith(".o"))
    .map((file) => join(commands, file));
  execFileSync(compiler, [
    "-std=c++20",
    "-O0",
    "-fno-exceptions",
    "-DJSON_USE_IMPLICIT_CONVERSIONS=0",
    `-I${ROOT}`,
    texts,
    ...objects,
    join(BUILD, "core/libcore_model.a"),
    join(BUILD, "core/libcore_evidence.a"),
    "-pthread",
    "-o",
    program,
  ]);
  return (args, input) => JSON.parse(execFileSync(program, args, { input, encoding: "utf8", maxBuffer: 1 << 28 }));
}

test("a GPU is a JSON file, its bill another one, and a family of GPUs three", () => {
  const scratch = mkdtempSync(join(tmpdir(), "slipstick-recipe-"));
  try {
    const slipstick = buildWith(scratch, {
      "kernels/rubin.json": KERNELS,
      "devices/rubin.json": DEVICE,
      "clusters/rubin-nvl72.json": CLUSTER,
      "devices/h150.json": CARD,
      "devices/h151.json": CARD,
      "bills/h150.json": BILL,
    });
    assert.ok(slipstick(["presets", "device"]).some(({ id }) => id === "h150"));
    const [billed, estimated] = ["h150", "h151"].map((id) =>
      slipstick(["evaluate", "model=llama-3.1-8b", `cluster=single-${id}`, "training=null"]),
    );
    assert.ok(billed.serving.tpot_s > 0 && billed.serving.tpot_s === estimated.serving.tpot_s);
    assert.equal(billed.scenario.cost.device.price, 35000);
    assert.ok(estimated.cost.assumed.includes("cost.device"));
    assert.ok(!billed.cost.assumed.includes("cost.device"));

    const report = slipstick(["evaluate", "model=llama-3.1-70b", "cluster=rubin-nvl72"]);
    assert.equal(report.issues, undefined);
    assert.equal(report.scenario.cluster.device.architecture, "rubin");
    assert.ok(report.training.step_time_s > 0 && report.serving.tpot_s > 0);
    assert.ok(report.training.assumed.includes("cluster.device.efficiency.matrix"));

    // The stated value applies: a launch of 2.5 us (by the rules) adds 0.65 times that to a norm.
    const time = (architecture, operator) =>
      slipstick(["kernel", "-"], JSON.stringify({ device: { preset: "rubin", architecture }, operator })).time_s;
    const norm = { kind: "norm", rows: 16, columns: 8192 };
    assert.ok(Math.abs(time("rubin", norm) - time("blackwell", norm) - 0.65 * 2.5e-6) < 1e-12);
    // Other values come from the family that it names.
    const product = { kind: "gemm", m: 16, n: 8192, k: 8192 };
    assert.equal(time("rubin", product), time("blackwell", product));

    const choices = slipstick(["describe"]).inputs.find(
      (input) => input.path === "cluster.device.architecture",
    ).choices;
    assert.ok(choices.includes("rubin") && choices.includes("hopper"));
  } finally {
    rmSync(scratch, { recursive: true });
  }
});
