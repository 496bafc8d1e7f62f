// The types that the page's modules share. Checked by tests/structure/lint.test.js (tests/tsconfig.json), not part of the site.
// Members of the core's answers are listed here if the page reads them by name.
import type { Advice } from './engine/advice.js';
import type { Answering } from './engine/answering.js';
import type { SiteData } from './engine/site_data.js';
import type { Modules } from './modules.js';
import type { Before } from './report/before.js';
import type { Dialogs } from './report/dialogs.js';
import type { Stage } from './scenes/stage.js';
import type { Store } from './state/store.js';
import type { Issue } from '../wasm/slipstick.js';

export type { Change, Fix, Issue, Slipstick } from '../wasm/slipstick.js';

/** JSON from the core whose members are read by path. */
export interface Json {
  [member: string]: any;
}

// ---- Requests.

/** The visitor's inputs, as texts by path: {"serving.batch": "64"}. */
export type Inputs = Record<string, string>;

/** The content of a link and of the store. */
export interface State {
  scene: string;
  sub?: string;
  inputs?: Inputs;
  /** The other scenarios of the comparison. */
  others?: Inputs[];
  /** How the page is shown (state/view.js). */
  view?: ViewWords;
  faults?: LinkFault[];
  /** The release that wrote the link. */
  release?: string;
}

export interface LinkFault {
  kind: string;
  path?: string;
}

export interface ViewWords {
  embed?: string;
  hide?: string;
  show?: string;
  lock?: string;
  ask?: string;
  choices?: string;
  hint?: string;
  right?: string;
  figure?: string;
  vary?: string;
  student?: string;
  /** A sizing question. */
  size?: string;
  /** A panel's question. */
  explore?: string;
}

/** An exercise's question and the value that its answer is compared with, as texts of the link. */
export interface Exercise {
  question: string;
  right: string;
  figure: string;
  vary: string;
}

/** Inputs that a link locks or leaves out. */
export interface View {
  isLocked(path: string): boolean;
  isShown(path: string): boolean;
  locksAll?: boolean;
  limits?: boolean;
  shown?: string[];
}

/** A scenario: the resolved request, every input with its value. A part that is off is null. */
export interface Scenario {
  version: number;
  model: Json;
  cluster: Json;
  training: Json | null;
  serving: Json | null;
  post_training: Json | null;
  diffusion: Json | null;
  cost: Json | null;
  partition: Json | null;
  /** The visitor's measurements, and the scenario that each belongs to. */
  measured?: { path: string; value: number; at?: string }[];
}

/** A scenario as a request: members left out have their defaults. */
export type Request = Json & { written?: string[] };

/** An input, as the core describes it. Inputs under "More" have only their shape until the core has loaded. */
export interface Field {
  path: string;
  kind: string;
  label?: string;
  help?: string;
  unit?: string;
  /** One `unit` in base units. */
  unit_factor?: number;
  base_unit?: string;
  default?: unknown;
  low?: number;
  high?: number;
  choices?: string[];
  /** The kind of catalogue entry that it picks. */
  presets?: string;
  nullable?: boolean;
  required?: boolean;
  advanced?: boolean;
  derived?: boolean;
  /** A text accepted in place of a value: "max". */
  word?: string;
}

/** A figure, as the core describes it. */
export interface Output {
  path: string;
  kind: string;
  title: string;
  short?: string;
  unit?: string;
  better?: 'smaller' | 'larger';
  /** Whether a search can optimize it. */
  sought?: boolean;
}

export interface Described {
  version: number;
  default: Request;
  /** The default scenario of each version of links. */
  defaults: Record<string, Request>;
  /** Paths whose default depends on other written inputs. */
  follows: string[];
  inputs: Field[];
  outputs: Output[];
}

/** An entry of the catalogue, as a preset names it. */
export interface Entry extends Json {
  kind: string;
  id: string;
  name: string;
}

// ---- Answers.

/** The interval of a figure, from the runs most similar to the scenario. */
export interface Interval {
  low: number;
  high: number;
  level: number;
  rows: string[];
  nearest: string;
  why: string;
}

/** A choice of the core, and its reason. */
export interface Chosen {
  path: string;
  value: unknown;
  why: string;
}

/** Members of every part of a report. */
export interface ReportPart extends Json {
  feasible: boolean;
  infeasible: { message: string; reason: string }[];
  assumed: string[];
  chosen?: Chosen[];
}

export interface Report {
  version: number;
  scenario: Scenario;
  training: ReportPart | null;
  serving: ReportPart | null;
  post_training?: ReportPart | null;
  diffusion?: ReportPart | null;
  cost: ReportPart | null;
  warnings: Json[];
  /** In place of all other members if the request is wrong. */
  issues?: Issue[];
  explanations?: Json[];
  sources?: Json[];
}

/** The report of a request: parts with `issues` are left out, and named in `faulty`. */
export interface Answer {
  request: Request;
  report: Report;
  issues: Issue[];
  faulty: Set<string>;
}

/** Advice on a question: the report is null until the first one has come. */
export interface Advised {
  report: Json | null;
  /** Whether it answers exactly this question. */
  isFresh: boolean;
  /** Whether it is about this question's request. */
  isOf: boolean;
}

/** A parsed command. */
export interface ReadCommand {
  tool: Tool;
  /** Whether it only sends requests to a server that another command starts. */
  isLoad?: boolean;
  /** The catalogue's model, if it has the stated shape. */
  model?: Entry;
  /** The model as inputs, if the catalogue has none. */
  shape?: Inputs;
  name?: string;
  inputs: Inputs;
  /** Flags that affect the run but have no input, and unknown ones. */
  unused: string[];
  unknown: string[];
}

/** A program whose commands are read, and in most cases written. */
export interface Tool {
  id: string;
  title: string;
  /** The version whose flags are known. */
  version: string;
  part: 'training' | 'serving';
  started(words: string[]): boolean;
  /** Whether a text is a configuration file that describes a run without its command. */
  isFile?(text: string): boolean;
  /** Whether a command sends the load to a server. */
  isLoad?(words: string[]): boolean;
  read(words: string[], models: Entry[], text: string): Omit<ReadCommand, 'tool'>;
  command?(scenario: Scenario, models: Entry[], report: Report): string;
}

/** A pasted measurement: figures of the report, or times of collectives, and the parts of its scenario that it states. */
export interface Measurement extends Partial<ReadCommand> {
  inputs: Inputs;
  /** Whether the inputs are a complete command. */
  isWhole?: boolean;
  cluster?: Entry;
  measured: { figure?: string; collective?: Json; value: number; count?: number; bus?: number }[];
  /** Lines that were not understood. */
  unread?: string[];
  /** Settings that it does not state. */
  missing?: string[];
}

/** A kind of measurement that can be pasted. */
export interface MeasurementFormat {
  id: string;
  title: string;
  part: 'training' | 'serving' | 'cluster';
  started(text: string): boolean;
  read(text: string, catalogue: { models: Entry[]; clusters: Entry[] }): Measurement;
}

// ---- Parts of the page that scenes, panels and dialogs get.

/** The page by subject. */
export interface Parts {
  /** The core's description and its interface: `described`, `requestFor(inputs)`, `catalogue()`, `engine`. */
  core: Answering;
  /** The visitor's inputs, and methods to change them. */
  store: Store;
  /** Drawing: `draw()`, `nodesOf(scene)`; and the state of charts: `chosen(key)`, `choose(key, value)`. */
  stage: Stage;
  /** Modules that are fetched after the first paint: `late(name)`. */
  modules: Modules;
  /** Data files of the site: `at(path)`, undefined until the file has loaded. */
  files: SiteData;
  /** Changes that the core advises: `on(question)`. */
  advice: Advice;
  /** The answers before a change: `show(report)`. */
  before: Before;
  /** Dialogs and sheets over the page. */
  dialogs: Dialogs;
  /** Shows a notice under the answers, for some milliseconds or until it is closed, with an action. */
  notice(text: string, ms?: number, action?: Child): void;
  /** The link to the present scenario, shown in another way. */
  linkWith(view: ViewWords): Promise<string>;
}

/** The data and functions that a scene draws from. */
export interface Context extends Parts {
  report: Report;
  scenario: Scenario;
  request: Request;
  /** The scenario of the presets only, null until it has come. */
  base: Scenario | null;
  inputs: Inputs;
  issues: Issue[];
  /** Parts that have no answer because of their issues. */
  faulty: Set<string>;
  /** Whether the answers wait to be shown. */
  hidden: boolean;
  /** The scene's width in CSS pixels: charts draw at this width. */
  width: number;
  /** A further answer of the core: undefined until it has come, then the scene is redrawn. */
  ask(verb: string, ...args: unknown[]): any;
  /** The same, but until it has come the previous answer of this slot. */
  lately(slot: string, verb: string, ...args: unknown[]): any;
  /** Opens the derivation of a figure. */
  why(path: string): void;
  /** Marks the inputs that a figure depends on. */
  hover(path: string | null): void;
  open(scene: string, sub?: string): void;
  toInput(path: string): void;
  /** The view of a scene that another scene shows. */
  sub?: string;
  /** A report whose figures are outlined beside the present ones. */
  ghost?: Report;
}

/** A scene: `draw` gives its nodes and keeps nothing. */
export interface Scene {
  id: string;
  draw: ((context: Context) => Child[]) | null;
  /** Fetches its module. */
  load?(): Promise<unknown>;
  /** Its link is in the header's menu until it is open. */
  isFolded?: boolean;
  /** Its parts are places in the address. */
  hasPlaces?: boolean;
  /** The scene whose tab is shown for it, by the figure that it is about. */
  tabOf?(figure: string): string;
}

/** The context of lessons: `begin` opens a lesson, with its scenario if the present one is not the visitor's own. */
export interface Teaching extends Context {
  begin(event: Event, lesson: any): void;
}

// ---- Charts.

/** A child of an element: texts, numbers and nodes; null, undefined and false are nothing; lists are flattened. */
export type Child = Node | string | number | boolean | null | undefined | Child[];

/** A cell of a chart's table: a value with a unit is shown in readable form and saved as a number. */
export type Cell = string | number | boolean | null | undefined | { value: number; unit: string };
export type Column = string | { name: string; unit: string };

/** A line of a chart's key. */
export interface KeyLine {
  text: string;
  color?: string;
  hatch?: boolean;
  ring?: boolean;
  dashed?: boolean;
  line?: string;
  sign?: string;
}

/** Everything around a drawing. */
export interface Around {
  id: string;
  title: string;
  subtitle?: string;
  summary?: string;
  note?: string;
  /** How to use the drawing; not shown on paper. */
  hint?: string;
  controls?: Child;
  columns?: Column[];
  /** A function if they are many: then they are made when they are opened. */
  rows?: Cell[][] | (() => Cell[][]);
}

/** The frame of a drawing with a width in CSS pixels. */
export interface Wide extends Around {
  width: number;
}

export interface ChartParts extends Around {
  /** Its name for screen readers: "bar chart". */
  kind: string;
  drawing: SVGElement;
  key?: KeyLine[];
}

/** A part of a stack. */
export interface Part {
  id: string;
  name: string;
  value: number;
  color: string;
  hatch?: boolean;
}

/** The input that a handle on a chart sets. */
export interface Setter {
  set(value: number): void;
  end(): void;
}

export interface Axis {
  label: string;
  unit?: string;
  log?: boolean;
  /** The start of the axis; default: the least value or zero. */
  from?: number;
}

export interface Bars extends Omit<Wide, 'rows' | 'columns'> {
  unit: string;
  rows: Bar[];
  /** Draws every n-th row. */
  every?: number;
  /** Columns of the table: [the rows', …their cells']. */
  names?: Column[];
  limit?: { value: number; text: string };
  axis?: boolean;
  onpart?(id: string): void;
}

export interface Bar {
  label?: string;
  parts?: Part[];
  /** The previous length of the bar, drawn as an outline. */
  ghost?: number;
  /** In place of a bar. */
  words?: Child;
  /** Announced with its parts. */
  about?: string;
  cells?: Cell[];
  /** A gap before it. */
  apart?: boolean;
}

export interface PartBar extends Omit<Wide, 'rows' | 'columns'> {
  unit: string;
  parts: Part[];
  onpart?(id: string): void;
  ghost?: number;
}

export interface Lines extends Wide {
  x: Axis;
  y: Axis;
  series: {
    name: string;
    color: string;
    points: { x: number; y: number; label?: string; hollow?: boolean; why?: string }[];
  }[];
  /** `hair`: a line that must not be crossed. */
  levels?: { y: number; text: string; hair?: boolean }[];
  uprights?: { x: number; text: string; color?: string }[];
  /** `point`: the name of a mark at y; `onx` where it can be dragged. */
  here?: { x: number; y?: number; text?: string; point?: string; name?: string; onx?: Setter };
  height?: number;
}

export interface Heat extends Omit<Wide, 'columns'> {
  x: { label: string; names: string[] };
  y: { label: string; names: string[] };
  /** x and y are indices into names; a cell without a value has a reason. */
  cells: { x: number; y: number; value?: number; reason?: string }[];
  unit?: string;
}

export interface Point {
  x: number;
  y: number;
  label: string;
  /** Shown next to it. */
  name?: string;
  chosen?: boolean;
  series?: number;
}

export interface Scatter extends Wide {
  x: Axis;
  y: Axis;
  points: Point[];
  /** A frontier of one kind needs none. */
  series?: { name: string; color: string }[];
  here?: { x: number; y: number; label: string };
  onpoint?(at: number): void;
  /** The name of the diagonal, drawn in place of the frontier. */
  diagonal?: string | false;
}

export interface Steps extends Wide {
  x: Axis;
  y: Axis;
  series: { name: string; steps: Step[]; kind: 'best' | 'chosen' | '' }[];
  /** A rate. */
  here?: number;
  onrate?(rate: number): void;
}

export interface Step {
  from: number;
  to: number;
  usd: number;
  devices: number;
}

export interface Diagonal extends Wide {
  unit: string;
  points: { label: string; computed: number; measured: number; color?: string; isNear?: boolean; series?: string }[];
  /** The answer whose error is asked for. */
  here?: { value: number; low: number; high: number; label: string };
  names: { up: string; across: string };
  key?: KeyLine[];
}

export interface Roofline extends Wide {
  /** FLOP/s */
  peak: number;
  /** B/s */
  bandwidth: number;
  caches?: { name: string; bandwidth: number }[];
  groups: { phase: string; operators: Json[] }[];
  /** The main phase. */
  main?: string;
  /** Handles of a ridge that can be dragged. */
  onridge?: { bandwidth: Setter; peak: Setter };
}
