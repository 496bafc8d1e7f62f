import type { Issue } from './slipstick.js';

export type { Change, Fix, Issue } from './slipstick.js';

/** A scenario, or parts of one (schema.json); or its JSON text. Parts that it lacks are the default scenario's. */
export type Request = Record<string, unknown> | string;

/** What is wrong with a request, instead of an answer. */
export interface Refusal {
  issues: Issue[];
}

/** A report (schema.json), or another answer: JSON, numbers in base units. */
export type Answer = Record<string, any> & Partial<Refusal>;

/** What a long question may be told. */
export interface Listening {
  /** Hears how much is done, and of how much where that is known. */
  onprogress?: (done: number, of?: number) => void;
}

export interface Verbs {
  /** The report of a scenario but for its timeline. `explain`: path of a figure to derive, or "*". */
  evaluate(request?: Request, options?: { explain?: string }): Answer;
  /** The passes of the training step's pipeline, or null. */
  timeline(request?: Request): Answer | null;
  /** One operator, collective or expert exchange, timed alone. */
  kernel(request: Request): Answer;
  /** The published runs behind the interval of a figure. */
  evidence(request: Request, figure: string): Answer;
  /** {"request", "measured": [{"figure", "value"}]}: what would explain measurements of your own. */
  calibrate(spec: Request): Answer;
  /** Every input and every output, and the default scenario. */
  describe(): Answer;
  /** The catalogue's entries of a kind, or of all. */
  presets(kind?: string): Answer[];
  /** A model from a checkpoint's config.json. */
  importModel(config: Request): Answer;
  /** {"request", "axes", "report", "search"?}: the rows of a sweep. */
  sweep(spec: Request, options?: { from?: number; to?: number } & Listening): Answer;
  /** {"request", "range", "until", "against"?, "search"?}: the largest or smallest value that holds, and `held`, the inputs to write beside it. */
  solve(spec: Request, options?: Listening): Answer;
  /** {"request", "requests_per_s", "ttft"?, "tpot"?, "clusters"?, …}: the cheapest deployment on each cluster. */
  size(spec: Request, options?: Listening): Answer;
  /** {"request", "for", "objective", "pareto"?, "limits"?, "top"?}: the best mappings, of all valid ones. */
  search(spec: Request, options?: Listening): Answer;
  /** {"request", "for"?, "objective"?, "limits"?, "top"?}: discrete changes that a person can make, the best first. */
  advise(spec: Request, options?: Listening): Answer;
  /** {"request", "ttft"?, "tpot"?, "percentile"?, "speed"?, "requests_per_s"?} and the text of a file of requests: how they are served. */
  replay(spec: Request, trace: string, options?: Listening): Answer;
  /** What a search can look for. */
  searchObjectives(): any;
  /** How much a figure moves when each input moves by a share, and its exact elasticities; a share of 0 gives these alone. */
  sensitivity(request: Request, figure: string, share?: number): Answer;
  /** Which figures move with each number at `input` or below it. */
  dependence(request: Request, input?: string): Answer;
  /** The split of a designed chip's budgets that makes a figure least. */
  design(request: Request, figure: string): Answer;
  /** Curves, wafer maps, samples and tornados of cost. */
  costStudy(request: Request): Answer;
  /** A study of a paper. */
  study(id: string): Answer;
}

/** Compiles the core; once is enough for any number of questions. */
export function load(): Promise<Verbs>;
