// Sends a sizing question to the core cluster by cluster: first at the given rate, then along the rates, each
// deployment up to its limit. One question at a time; a new one replaces the previous one.

const REST_MS = 250;
const AHEAD = 5; // rates up to so many times the one asked for,
const BEHIND = 10; // and down to such a part of it
const STEP = 1.12; // at least, from one sized rate to the next
const MOST_ERRORS = 3;

export const costOf = (answer) => answer.cost.usd_per_hour;
// The cheapest first; equal ones by their free capacity. Those that miss the targets come last.
export const cheapestFirst = (answers) =>
  [...answers].sort(
    (a, b) => b.holds - a.holds || (a.holds ? costOf(a) - costOf(b) || b.headroom.traffic - a.headroom.traffic : 0),
  );

export class Sizing {
  #pool;
  #ontold;
  #key = '';
  #timer = 0;
  #job = null;
  #run = 0;
  state = { answers: [], curves: new Map(), done: 0, of: 0, running: false };

  // `ontold` is called at each change of the state.
  constructor(pool, ontold) {
    this.#pool = pool;
    this.#ontold = ontold;
  }

  // `question`: the members of the core's sizing question; `request`: the scenario.
  ask(question, request) {
    const key = JSON.stringify([question, request]);
    if (key === this.#key) return;
    this.#key = key;
    this.#end();
    this.#timer = setTimeout(() => this.#start({ ...question, request }), REST_MS);
    this.#tell({ running: true, stopped: false });
  }

  stop() {
    this.#end();
    this.#key = '';
    this.#tell({ running: false, stopped: true });
  }

  #end() {
    clearTimeout(this.#timer);
    this.#run++;
    this.#job?.stop();
    this.#job = null;
  }

  #tell(change) {
    this.state = { ...this.state, ...change };
    this.#ontold(this.state);
  }

  async #start(spec) {
    const run = ++this.#run;
    const { clusters, requests_per_s: rate } = spec;
    const own = () => run === this.#run;
    const on = (cluster, requests_per_s, pools) => ({ ...spec, clusters: [cluster], requests_per_s, pools });
    const sized = async (list, onanswer) => {
      this.#job = this.#pool.each(
        'size',
        list.length,
        (at) => [on(list[at].cluster, list[at].rate, list[at].pools)],
        (answer, at) => own() && onanswer(answer, list[at]),
      );
      await this.#job.done;
    };
    const began = performance.now();
    let answers = [];
    this.#tell({ asked: rate, done: 0, of: clusters.length, issues: null, error: null, began });
    try {
      await sized(
        clusters.map((cluster) => ({ cluster, rate, pools: 'one_and_two' })),
        (answer) => {
          answers = answer.issues ? answers : [...answers, answer.clusters[0]];
          this.#tell({
            done: this.state.done + 1,
            issues: answer.issues ?? this.state.issues,
            answers: cheapestFirst(answers),
          });
        },
      );
      if (!own() || this.state.issues)
        return this.#tell({ running: false, answers: this.state.issues ? [] : this.state.answers, curves: new Map() });
      await this.#follow(
        answers.filter(({ holds }) => holds),
        rate,
        sized,
        own,
      );
      if (own()) this.#tell({ running: false, took: performance.now() - began });
    } catch (error) {
      if (own()) this.#tell({ running: false, error });
    }
  }

  // Each cluster's cost along the rates: [{from, to, usd, devices}], `to` where the deployment breaks.
  async #follow(answers, rate, sized, own) {
    const curves = new Map(answers.map(({ cluster }) => [cluster, { steps: [], next: rate / BEHIND, errors: 0 }]));
    this.#tell({ curves });
    for (;;) {
      const list = [...curves]
        .filter(([, { next, errors }]) => next < rate * AHEAD && errors < MOST_ERRORS)
        .map(([cluster, { next }]) => ({ cluster, rate: next, pools: 'one' }));
      if (!list.length || !own()) return;
      await sized(list, (answer, { cluster, rate: from }) => {
        const curve = curves.get(cluster);
        const [one] = answer.clusters ?? [];
        if (!one?.holds) {
          curve.errors = MOST_ERRORS; // beyond what a cluster of this kind can be
          return;
        }
        const to = one.headroom.requests_per_s;
        curve.steps.push({ from, to, usd: costOf(one), devices: one.deployment.devices });
        // The given rate is a separate start, so that the curve agrees with the table there.
        curve.next = Math.max(to * (1 + 1e-6), from < rate ? Math.min(from * STEP, rate) : from * STEP);
      });
      if (own()) this.#tell({ curves: new Map(curves) });
    }
  }
}
