// The shapes that the page's modules hand to each other. Checked by tests/structure/lint.test.js (tests/tsconfig.json), not part of the site.
// What the core answers is named here as far as the page reads it by name.
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

/** JSON of the core whose members are read by path. */
export interface Json {
  [member: string]: any;
}

// ---- What is asked.

/** What the visitor wrote, as texts by path: {"serving.batch": "64"}. */
export type Inputs = Record<string, string>;

/** What a link holds, and the store. */
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

/** An exercise's question and what its answer is checked against, as texts of the link. */
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

/** A scenario: what a request resolves to, every input with its value. A part that is not asked for is null. */
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
  /** What the visitor measured, and of which scenario. */
  measured?: { path: string; value: number; at?: string }[];
}

/** A scenario as it is asked for: what is left out has its default. */
export type Request = Json & { written?: string[] };

/** An input, as the core describes it. What stands under "More" has only its shape until the core is there. */
export interface Field {
  path: string;
  kind: string;
  label?: string;
  help?: string;
  unit?: string;
  /** How many base units one of `unit` is. */
  unit_factor?: number;
  base_unit?: string;
  default?: unknown;
  low?: number;
  high?: number;
  choices?: string[];
  /** The kind of the catalogue's entries that it picks. */
  presets?: string;
  nullable?: boolean;
  required?: boolean;
  advanced?: boolean;
  derived?: boolean;
  /** A text that stands for a value: "max". */
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
  /** Whether a search can look for it. */
  sought?: boolean;
}

export interface Described {
  version: number;
  default: Request;
  /** The default scenario of each version of links. */
  defaults: Record<string, Request>;
  /** Paths whose default moves with what else is written. */
  follows: string[];
  inputs: Field[];
  outputs: Output[];
}

/** An entry of the catalogue: what a preset names. */
export interface Entry extends Json {
  kind: string;
  id: string;
  name: string;
}

// ---- What was answered.

/** Where a figure lies, by the runs most like the scenario. */
export interface Interval {
  low: number;
  high: number;
  level: number;
  rows: string[];
  nearest: string;
  why: string;
}

/** What the core chose, and why. */
export interface Chosen {
  path: string;
  value: unknown;
  why: string;
}

/** What every part of a report has. */
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
  /** In place of all else where the request is wrong. */
  issues?: Issue[];
  explanations?: Json[];
  sources?: Json[];
}

/** A report of the request as far as it has one: parts that `issues` are about are left out, and named in `faulty`. */
export interface Answer {
  request: Request;
  report: Report;
  issues: Issue[];
  faulty: Set<string>;
}

/** Advice on a question: the report is null until the first has come. */
export interface Advised {
  report: Json | null;
  /** Whether it is on this very question. */
  isFresh: boolean;
  /** Whether it is on this question's request. */
  isOf: boolean;
}

/** What a pasted command says. */
export interface ReadCommand {
  tool: Tool;
  /** Whether it sends requests to what another command serves. */
  isLoad?: boolean;
  /** The catalogue's, where it has the shape that is named. */
  model?: Entry;
  /** The model as inputs, where the catalogue has none. */
  shape?: Inputs;
  name?: string;
  inputs: Inputs;
  /** Flags that bear on the run but that no input says, and those that nobody knows. */
  unused: string[];
  unknown: string[];
}

/** A program whose commands are read, and of most written. */
export interface Tool {
  id: string;
  title: string;
  /** Of which the flags are known. */
  version: string;
  part: 'training' | 'serving';
  started(words: string[]): boolean;
  /** Whether a text is a configuration file that tells a run without its command. */
  isFile?(text: string): boolean;
  /** Whether a command sends the load of one that is served. */
  isLoad?(words: string[]): boolean;
  read(words: string[], models: Entry[], text: string): Omit<ReadCommand, 'tool'>;
  command?(scenario: Scenario, models: Entry[], report: Report): string;
}

/** A pasted measurement: figures of the report, or times of collectives, and the scenario that it was made with, as far as it says. */
export interface Measurement extends Partial<ReadCommand> {
  inputs: Inputs;
  /** Whether the inputs are a whole command. */
  isWhole?: boolean;
  cluster?: Entry;
  measured: { figure?: string; collective?: Json; value: number; count?: number; bus?: number }[];
  /** Lines that were not understood. */
  unread?: string[];
  /** What it does not say. */
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

// ---- What scenes, panels and dialogs are given.

/** The page by subject. */
export interface Parts {
  /** What the core says of itself, and how to ask it: `described`, `requestFor(inputs)`, `catalogue()`, `engine`. */
  core: Answering;
  /** What the visitor wrote, and how to change it. */
  store: Store;
  /** How to draw: `draw()`, `nodesOf(scene)`, and what of a chart is shown: `chosen(key)`, `choose(key, value)`. */
  stage: Stage;
  /** Modules that are fetched behind the first paint: `late(name)`. */
  modules: Modules;
  /** Data files of the site: `at(path)`, undefined while one is on its way. */
  files: SiteData;
  /** Changes that the core advises: `on(question)`. */
  advice: Advice;
  /** What the answers were before a change: `show(report)`. */
  before: Before;
  /** What opens over the page. */
  dialogs: Dialogs;
  /** Says something under the answers, for so many milliseconds or until it is closed, with a way on. */
  notice(text: string, ms?: number, action?: Child): void;
  /** The link to the present scenario, shown in another way. */
  linkWith(view: ViewWords): Promise<string>;
}

/** What a scene draws from. */
export interface Context extends Parts {
  report: Report;
  scenario: Scenario;
  request: Request;
  /** The scenario of the presets alone, null until it is there. */
  base: Scenario | null;
  inputs: Inputs;
  issues: Issue[];
  /** Parts that have no answer because of their issues. */
  faulty: Set<string>;
  /** Whether the answers wait to be shown. */
  hidden: boolean;
  /** Of the scene in CSS pixels: charts draw at this width. */
  width: number;
  /** A further answer of the core: undefined until it is there, then the scene is drawn again. */
  ask(verb: string, ...args: unknown[]): any;
  /** The same; until it is there, what was last answered in this slot. */
  lately(slot: string, verb: string, ...args: unknown[]): any;
  /** Opens how a figure is made. */
  why(path: string): void;
  /** Marks the inputs that a figure rests on. */
  hover(path: string | null): void;
  open(scene: string, sub?: string): void;
  toInput(path: string): void;
  /** The place in a scene that another scene shows. */
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
  /** Its link stands in the header's menu until it is open. */
  isFolded?: boolean;
  /** The scene under whose tab it stands, by the figure that it is about. */
  tabOf?(figure: string): string;
}

/** What the lessons draw from: `begin` opens a lesson, with its scenario where the present one is nobody's own. */
export interface Teaching extends Context {
  begin(event: Event, lesson: any): void;
}

// ---- Charts.

/** A child of an element: texts, numbers and nodes; null, undefined and false are nothing; lists are flattened. */
export type Child = Node | string | number | boolean | null | undefined | Child[];

/** A cell of a chart's table: a value with a unit is shown as people read it and saved as the number. */
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

/** What stands around every drawing, beside the drawing itself. */
export interface Around {
  id: string;
  title: string;
  subtitle?: string;
  summary?: string;
  note?: string;
  /** What can be done with the drawing: not on paper. */
  hint?: string;
  controls?: Child;
  columns?: Column[];
  /** A function where they are many: then they are made when they are looked at. */
  rows?: Cell[][] | (() => Cell[][]);
}

/** Around a drawing of a width in CSS pixels. */
export interface Wide extends Around {
  width: number;
}

export interface ChartParts extends Around {
  /** What a screen reader calls it: "bar chart". */
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

/** What a handle on a chart sets. */
export interface Setter {
  set(value: number): void;
  end(): void;
}

export interface Axis {
  label: string;
  unit?: string;
  log?: boolean;
  /** Where the axis starts, else at the least value or zero. */
  from?: number;
}

export interface Bars extends Omit<Wide, 'rows' | 'columns'> {
  unit: string;
  rows: Bar[];
  /** Draws one row in so many. */
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
  /** How long the bar was before, as an outline. */
  ghost?: number;
  /** In place of a bar. */
  words?: Child;
  /** Said with its parts. */
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
  /** x and y are places in names; what has no value has a reason. */
  cells: { x: number; y: number; value?: number; reason?: string }[];
  unit?: string;
}

export interface Point {
  x: number;
  y: number;
  label: string;
  /** Stands beside it. */
  name?: string;
  chosen?: boolean;
  series?: number;
}

export interface Scatter extends Wide {
  x: Axis;
  y: Axis;
  points: Point[];
  /** A front of one kind needs none. */
  series?: { name: string; color: string }[];
  here?: { x: number; y: number; label: string };
  onpoint?(at: number): void;
  /** The name of a line where both are equal, in place of the front. */
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
  /** The phase that stands out. */
  main?: string;
  /** Of a ridge that can be dragged. */
  onridge?: { bandwidth: Setter; peak: Setter };
}
