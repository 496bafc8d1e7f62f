#!/usr/bin/env node
// slipstick-mcp: the verbs of the core as tools of a server of the Model Context Protocol, on standard input and output.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Figures } from './figures.js';
import { Refused, Scenarios } from './scenario.js';
import { toolsOf } from './tools.js';
import { Workers } from './workers.js';

const USAGE = `usage: slipstick-mcp [--site URL]

A server of the Model Context Protocol on standard input and output. --site, or the environment's SLIPSTICK_SITE, is
the address of the page that links open; http://127.0.0.1:8080/ where neither is given.`;
const INSTRUCTIONS =
  'Slipstick computes time, memory, throughput and cost of training and serving LLMs. Give the interval with every figure, say what was assumed, ' +
  'and hand on the link. Write quantities with their units. Read the resource slipstick://guide before the first question.';
const DIGITS = 5;

const packaged = (path) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const { version } = JSON.parse(await packaged('package.json'));
const { values: options } = parseArgs({
  options: { site: { type: 'string' }, help: { type: 'boolean' }, version: { type: 'boolean' } },
});
if (options.help || options.version) {
  console.log(options.help ? USAGE : `slipstick ${version}`);
  process.exit();
}

const workers = new Workers();
const schema = await packaged('schema.json');
const described = await workers.ask('describe', []);
const scenarios = new Scenarios(described, {
  site: options.site ?? process.env.SLIPSTICK_SITE ?? 'http://127.0.0.1:8080/',
  release: version,
});
const tools = toolsOf({
  described,
  objectives: await workers.ask('searchObjectives', []),
  schema: JSON.parse(schema),
  scenarios,
  figures: new Figures(described),
});
const RESOURCES = [
  {
    uri: 'slipstick://guide',
    name: 'guide',
    title: 'How to ask',
    mimeType: 'text/markdown',
    text: await packaged('mcp/guide.md'),
  },
  {
    uri: 'slipstick://schema',
    name: 'schema',
    title: 'JSON Schema of scenario and report',
    mimeType: 'application/json',
    text: schema,
  },
];

// Five digits are more than an interval justifies; `full` answers keep all digits.
const rounded = (_, value) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
const content = (answer, isExact) => ({
  content: [{ type: 'text', text: JSON.stringify(answer, isExact ? undefined : rounded) }],
});

// The core for one call: it ends with the call, and a client that wants progress gets it.
function coreFor({ signal, sendNotification, _meta: { progressToken } = {} }) {
  const onprogress = (progress, total) =>
    sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } }).catch(() => {});
  return (verb, ...args) =>
    workers.ask(verb, args, { signal, onprogress: progressToken === undefined ? undefined : onprogress });
}

const server = new Server(
  { name: 'slipstick', title: 'Slipstick', version },
  { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
);
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
  const tool = tools.find((one) => one.name === name);
  if (!tool)
    throw new McpError(
      ErrorCode.InvalidParams,
      `Unknown tool ${name}: choose ${tools.map((one) => one.name).join(', ')}`,
    );
  try {
    return content(await tool.answer(args, coreFor(extra)), args.full === true);
  } catch (error) {
    const issues =
      error instanceof Refused
        ? error.issues
        : [{ path: '', message: `The server failed: ${error?.message ?? error}`, fixes: [] }];
    return { ...content({ issues }), isError: true };
  }
});
server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: RESOURCES.map(({ text: _, ...about }) => about),
}));
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
  const found = RESOURCES.find((one) => one.uri === uri);
  if (!found) throw new McpError(ErrorCode.InvalidParams, `Unknown resource ${uri}`);
  return { contents: [{ uri, mimeType: found.mimeType, text: found.text }] };
});
process.stdin.on('end', () => process.exit());
await server.connect(new StdioServerTransport());
