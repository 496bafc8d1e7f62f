/** An input set to a value, or left out where there is no value. */
export interface Change {
  path: string;
  value?: unknown;
}

/** What makes an issue go away. */
export interface Fix extends Change {
  label: string;
  /** What has to change with it. */
  also?: Change[];
}

/** What is wrong with a request, at one of its paths. */
export interface Issue {
  path: string;
  message: string;
  /** The nearest first. */
  fixes: Fix[];
}

/** The core as the page sees it: JSON text in, JSON text out. A wrong request answers {"issues": Issue[]}. */
export interface Slipstick {
  /** A scenario's report but for its timeline; "" is the default scenario. `explain`: path of a figure to derive, "*" for all, "" for none. */
  evaluate(request: string, explain: string): string;
  /** The passes of the training step's pipeline alone: {"timeline": […]}, or null. */
  timeline(request: string): string;
  /** One operator, collective or expert exchange, timed alone. */
  kernel(request: string): string;
  /** The published runs behind the interval of a figure, what they had that the scenario has not, and what would narrow it. */
  evidence(request: string, figure: string): string;
  /** What the core says of a file of published measurements ({"rows": […]}); `id` names it in the answer. */
  measurements(id: string, file: string): string;
  /** Which term would have to be off by how much to explain measurements of one's own, and what value of a fitted parameter would (core/exploration/calibrate.h). */
  calibrate(spec: string): string;
  /** How often the intervals hold the published measurements, each answered without its own source, by kind. */
  coverage(): string;
  /** Every input: path, kind, unit, range, default, choices, help; every output: path, title, unit, what is better; and the default scenario. */
  describe(): string;
  /** The catalogue's entries of a kind, "" for all. */
  presets(kind: string): string;
  /** A model from the text of a checkpoint's config.json. */
  importModel(config: string): string;
  /** Rows `from` to `to` of a sweep. */
  sweep(spec: string, from: number, to: number): string;
  /** The largest or smallest value of a range ("PATH=lo:hi") that keeps a condition ("PATH<=VALUE"). */
  solve(request: string, range: string, until: string): string;
  /** The same of {"request", "range", "until", "against"?, "search"?}: against another scenario, or with the best mapping at each value. */
  solveFor(spec: string): string;
  /** Told by solveFor after every value tried: how many, about how many in all, and between which the answer lies. */
  onprogress?: ((tried: number, of: number, low: number, high: number) => void) | null;
  /**
   * The cheapest deployment on each cluster that serves a rate within latency targets: {"request", "requests_per_s", "peak_over_mean"? or "day"?,
   * "mixture"?: [{"weight", "prompt_tokens", "output_tokens"}], "ttft"?, "tpot"?, "clusters"?, "spare_replicas"?, "power"?, "budget"?, "prices"?, "limits"?, …} (core/sizing/question.h).
   */
  size(spec: string): string;
  /** How much a figure moves when each input moves by a share. */
  sensitivity(request: string, figure: string, share: number): string;
  /** Which figures move with each number at `input` or below it ("": all), of these the places `from` to before `to`. */
  dependence(request: string, input: string, from: number, to: number): string;
  /** Curves, wafer maps, draws and tornados of cost: {"kind", "scenario", …} (core/studies/cost_study.h). */
  costStudy(request: string): string;
  /** The best split of a designed chip's budgets for a figure, the default one for "". */
  design(request: string, figure: string): string;
  /** A study of a paper, with what must come out and what does. */
  study(id: string): string;
  /** One point of a study, and how many there are. */
  studyPoint(id: string, point: number): string;
  /** A whole study from a JSON list of its points in order. */
  studyOfPoints(id: string, points: string): string;
  /** What a search can look for. */
  searchObjectives(): string;
  /** The report of a whole search from a JSON list of its shards' texts. */
  mergeSearch(shards: string): string;
  Search: new (spec: string) => Search;
  Advice: new (spec: string) => Advice;
  Design: new (spec: string) => Design;
  Replay: new (spec: string, trace: string) => Replay;
}

/** One shard of a search, stepped by its owner; to be deleted. `spec`: {"request", "for", "objective", "limits", …}. */
export interface Search {
  /** {"issues": […]} where the spec is wrong, else "". */
  issues(): string;
  /** Decides up to `count` further mappings; false when none is left. */
  step(count: number): boolean;
  report(): string;
  /** What mergeSearch reads. */
  shard(): string;
  delete(): void;
}

/** Discrete changes to a scenario, stepped by its owner; to be deleted. `spec`: {"request", "for"?, "objective"?, "limits"?, "top"?}. */
export interface Advice {
  /** {"issues": […]} where the spec is wrong, else "". */
  issues(): string;
  /** Does up to `count` pieces of work; false when none is left. */
  step(count: number): boolean;
  /** What is known so far: {"for","figure","value","feasible","changes":[…],"pairs":[…],"evaluated","done"} (core/advice/advice_job.h). */
  report(): string;
  delete(): void;
}

/**
 * The best chip design for a figure, stepped by its owner; to be deleted. `spec`: {"request", "objective"?, "pareto"?, "vary"?: ["PATH=low:high" or
 * "PATH=a,b,c"], "locks"?, "limits"?, "mapping"?: "fixed" | "each"}.
 */
export interface Design {
  /** {"issues": […]} where the spec is wrong, else "". */
  issues(): string;
  /** Does up to `count` passes over the moves; false when none is left. */
  step(count: number): boolean;
  /** What is known so far: {"figure","better","objective","start","feasible","overrides","converged","starts","bound","limits",…,"done"} (core/exploration/design.h). */
  report(): string;
  delete(): void;
}

/**
 * A file of recorded requests played, stepped by its owner; to be deleted. `spec`: {"request", "ttft"?, "tpot"?, "percentile"?, "speed"?,
 * "requests_per_s"?}; `trace`: the text of the file (core/replay/read_trace.h).
 */
export interface Replay {
  /** {"issues": […]} where the spec or the file is wrong, else "". */
  issues(): string;
  /** Plays up to `count` steps of the engines; false when nothing is left to do. */
  step(count: number): boolean;
  /** {"done","playing"} while it plays, then what the requests need, how they are served and where it breaks (core/replay/replay_job.h). */
  report(): string;
  delete(): void;
}

export interface Options {
  /** Bytes of slipstick.wasm, for places where the glue cannot fetch it. */
  wasmBinary?: ArrayBuffer | Uint8Array;
  /** Supplies the instance, for a worker that is handed a compiled module. */
  instantiateWasm?(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module?: WebAssembly.Module) => void,
  ): WebAssembly.Exports | Record<string, never>;
}

export default function createSlipstick(options?: Options): Promise<Slipstick>;
