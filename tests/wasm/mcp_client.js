// slipstick-mcp as an assistant runs it: the package's server, called by the protocol's own client over standard input
// and output. Expected figures come from the command line.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ROOT, slipstickCommand } from "../support/module.js";
import { read } from "../../web/state/link.js";
import { get } from "../../web/state/paths.js";
import { requestOf } from "../../web/state/scenario.js";

const SCENES = ["overview", "train", "serve", "size", "memory", "chip", "explore", "compare"];

// A scenario that the core answers quickly: the tools' inputs, and the command line's arguments.
export const SMALL = [{ model: "llama-3.1-8b", cluster: "dgx-h100" }, ["model=llama-3.1-8b", "cluster=dgx-h100"]];

/** The command line's answer. */
export const command = (...args) => JSON.parse(slipstickCommand(args));

// Short answers are rounded to five digits.
export const near = (value, expected, what) =>
  assert.ok(Math.abs(value - expected) <= 6e-5 * Math.abs(expected), `${what}: ${value}, not ${expected}`);

/** Compares a figure of an answer with a report. */
export function assertFigure(figures, path, report, interval) {
  const { value, unit, interval: ends, text } = figures[path];
  near(value, get(report, path), path);
  assert.equal(typeof unit, "string", path);
  assert.ok(text.length > 0);
  if (!interval) return;
  const { low, high, level } = get(report, interval);
  assert.equal(level, 0.9);
  near(ends[0], low, `${path}, low`);
  near(ends[1], high, `${path}, high`);
  assert.match(text, /, 90 % interval .* to /);
}

/**
 * The installed package with the SDK: `path` of its server, `connect` for a client of one's own, and a client that the
 * tests of a file share, with its tools' answers and issues.
 */
export async function startServer() {
  const project = mkdtempSync(join(tmpdir(), "slipstick-mcp-"));
  mkdirSync(join(project, "node_modules"));
  cpSync(ROOT + "build/package", join(project, "node_modules/slipstick"), { recursive: true });
  symlinkSync(ROOT + "tests/node_modules/@modelcontextprotocol", join(project, "node_modules/@modelcontextprotocol"));
  const path = join(project, "node_modules/slipstick/mcp/server.js");

  async function connect(args = [], env = {}) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [path, ...args],
      env,
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    return { client, transport };
  }
  const { client, transport } = await connect();
  after(async () => {
    await client.close();
    rmSync(project, { recursive: true });
  });

  const call = (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options);
  async function answerOf(name, args, options) {
    const { content, isError } = await call(name, args, options);
    assert.ok(!isError, content[0].text);
    return JSON.parse(content[0].text);
  }
  async function issuesOf(name, args) {
    const { content, isError } = await call(name, args);
    assert.equal(isError, true, content[0].text.slice(0, 300));
    return JSON.parse(content[0].text).issues;
  }
  return { path, connect, client, transport, call, answerOf, issuesOf };
}

/** Opens a link as the page does: its state, and the reports of its scenarios. */
export function linkOpener(slipstick) {
  const described = JSON.parse(slipstick.describe());
  const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
  return async (link) => {
    assert.ok(link.startsWith("http://127.0.0.1:8080/#/"), link);
    const state = await read(link.slice(link.indexOf("#")), SCENES);
    assert.deepEqual(state.faults, []);
    assert.equal(`slipstick ${state.release}\n`, slipstickCommand(["--version"]));
    const report = (inputs) =>
      JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ""));
    return { state, report: report(state.inputs), others: state.others.map(report) };
  };
}
