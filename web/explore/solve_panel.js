// An input as the unknown: its last value that meets a condition.
/** @import {Context} from '../types.js' */
import { h, redraw } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { get } from '../state/paths.js';
import { inUnit, show, unitIn } from '../text/measure.js';
import { text, unitOf } from '../text/format.js';
import { pieces } from '../text/strings.js';
import { Asked } from './asked.js';
import {
  boundIn,
  button,
  faults,
  figureGroups,
  figureName,
  fillSelect,
  inputGroups,
  isNumeric,
  joined,
  labelled,
  presentOf,
  select,
  tellStale,
  textBox,
} from './controls.js';
import { asInputs } from './ranking.js';
import { mappingWords, nameOfValue, objectiveFor } from './sweep_values.js';
import { t } from './texts.js';

const FEASIBLE = ['training.feasible', 'serving.feasible'];

// Examples: the unknown and its range, the condition, the mapping, the scenario compared with.
const QUESTIONS = [
  {
    id: 'context',
    unknown: 'serving.prompt',
    from: '1k',
    to: '4M',
    figure: 'serving.feasible',
    how: '>=',
    bound: '1',
    best: 'none',
  },
  {
    id: 'gpus',
    unknown: 'cluster.devices',
    from: '8',
    to: '32768',
    step: '8',
    figure: 'training.time_to_train_s',
    how: '<=',
    bound: '30 day',
    best: 'none',
  },
  {
    id: 'chiplets',
    unknown: 'cost.device.dies.0.node.defect_density',
    from: '0.01 /cm^2',
    to: '1 /cm^2',
    figure: 'cost.device_usd',
    how: '>=',
    bound: '',
    best: 'none',
    against: 'cost.device.dies.0.count=4; cost.device.dies.0.area=230 mm^2; cost.device.package.price=1000 $',
    inputs: { 'cost.device.dies.0.units': '1', 'cost.device.dies.0.spare_units': '0' }, // no unit of the die is spare
  },
];

export class SolvePanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #run = null;
  #isBoundTyped = false; // a bare number is then in the figure's unit; that of a link is in base units
  #answered = null; // {inputs, own}: the inputs of the answer, and the paths that it sets

  constructor(pool) {
    this.#pool = pool;
    this.unknown = select([], '', () => this.#suggest());
    this.from = textBox('');
    this.to = textBox('');
    this.figure = select([], '', () => this.#bound());
    this.how = select(
      [
        { value: '<=', name: t('explore.atMost') },
        { value: '>=', name: t('explore.atLeast') },
      ],
      '>=',
    );
    this.bound = textBox('1');
    this.step = textBox('1');
    this.against = textBox('', { placeholder: t('explore.against.none') });
    this.best = select(
      ['none', 'training', 'serving'].map((value) => ({ value, name: t(`explore.best.${value}`) })),
      'none',
    );
    this.stale = h('p', { class: 'note', role: 'status' });
    this.answer = h('div', { role: 'status', id: 'solve-answer' });
    const { unknown, from, to, step, figure, how, bound, best, against } = this;
    this.asked = new Asked('solve', { unknown, from, to, step, figure, how, bound, best, against });
    this.start = button(t('explore.run'), () => this.#ask(), {
      'class': 'primary',
      'id': 'solve-start',
      'data-key': 'ex-solve',
    });
    this.stop = button(t('explore.stop'), () => this.#run?.stop(), {
      'class': 'ex-plain',
      'id': 'solve-stop',
      'data-key': 'ex-solve-stop',
    });
    this.progress = h('progress', { 'aria-label': t('explore.solve.progress') });
    this.tried = h('p', { class: 'ex-status' });
    this.#showRun(null);
    const onenter = (event) => event.key === 'Enter' && this.#ask();
    for (const box of [this.from, this.to, this.step, this.bound, this.against])
      box.addEventListener('keydown', onenter);
    this.bound.addEventListener('input', () => (this.#isBoundTyped = true));
    this.element = h(
      'section',
      { class: 'ex-solve' },
      h('p', { class: 'ex-questions' }, t('explore.solve.question'), ': ', (this.examples = h('span', {}))),
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.unknown'), this.unknown),
        short(labelled(t('explore.from'), this.from)),
        short(labelled(t('explore.to'), this.to)),
        (this.stepField = short(labelled(t('explore.solve.step'), this.step))),
      ),
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.until'), this.figure),
        short(labelled(t('explore.limit.how'), this.how)),
        short(labelled(t('explore.bound'), this.bound)),
      ),
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.sweep.best'), this.best),
        labelled(t('explore.solve.against'), this.against, t('explore.solve.against.hint')),
      ),
      h('div', { class: 'ex-run' }, this.start, this.stop, this.progress, this.tried),
      this.stale,
      this.answer,
    );
  }

  /** @param {Context} context */
  show(context) {
    const first = !this.#context;
    this.#context = context;
    const fallback = context.request.serving ? 'serving.prompt' : 'training.sequence';
    const groups = inputGroups(context.core.described, isNumeric);
    const dies = groups.at(-1).options;
    for (const member of ['node.defect_density', 'area', 'node.wafer_price'])
      dies.push({ value: `cost.device.dies.0.${member}`, name: `${labelOf(member)} (die)` });
    fillSelect(this.unknown, groups, this.unknown.value || fallback);
    const fits = FEASIBLE.filter((path) => get(context.report, path) !== undefined).map((path) => ({
      value: path,
      name: figureName(path),
    }));
    const figures = [...fits, ...figureGroups(context.report)];
    const before = this.figure.value;
    fillSelect(this.figure, figures, before || fits.at(-1)?.value);
    if (this.figure.value !== before && !first) this.#bound(); // the report lacks that figure now
    // An example about a part that is off has no meaning.
    const meant = QUESTIONS.filter(({ figure }) => context.request[figure.split('.')[0]]);
    redraw(
      this.examples,
      meant.map((one, at) => [
        at > 0 && ', ',
        button(t(`explore.solve.${one.id}`), () => this.#put(one), {
          'class': 'link',
          'data-key': `ex-solve-${one.id}`,
        }),
      ]),
    );
    if (first) {
      this.#suggest();
      this.#bound();
    }
    const isAsked = this.asked.take(context.store);
    if (isAsked) this.#fromText();
    if (first || isAsked) this.#solve(); // opens with an answer
    this.#tellStale();
  }

  #tellStale() {
    tellStale(this.stale, this.#answered, this.#context.inputs);
  }

  #ask() {
    if (this.#isBoundTyped) this.bound.value = inUnit(this.bound.value, this.#present().unit);
    this.asked.keep(this.#context.store);
    return this.#solve();
  }

  // Applies the effects of a question that was not typed here.
  #fromText() {
    this.#isBoundTyped = false;
    this.unit = unitIn(this.from.value);
    this.#showStep();
  }

  #input() {
    const described = this.unknown.value.replace(/\.\d+(?=\.|$)/g, '.*');
    const input = this.#context.core.described.inputs.find(({ path }) => path === described);
    return { ...input, path: this.unknown.value };
  }

  #put(question) {
    this.unknown.value = question.unknown;
    this.from.value = question.from;
    this.to.value = question.to;
    this.step.value = question.step ?? '1';
    this.figure.value = question.figure;
    this.how.value = question.how;
    this.bound.value = question.bound;
    this.best.value = question.best;
    this.against.value = question.against ?? '';
    this.#fromText();
    this.asked.keep(this.#context.store);
    const inputs = { ...this.#context.inputs, ...question.inputs };
    if (question.inputs) this.#context.store.setInputs(inputs);
    this.#solve(this.#context.core.requestFor(inputs), inputs);
  }

  // Counts may have steps: devices come in nodes.
  #showStep() {
    const { kind } = this.#input();
    this.stepField.hidden = kind !== 'count' && kind !== 'length';
  }

  // Four binary orders about the present value.
  #suggest() {
    const input = this.#input();
    const value = get(this.#context.scenario, input.path);
    const size = typeof value === 'number' && value > 0 ? value : 8;
    const write = (one) => (input.kind === 'quantity' ? show(one, input.unit, input.unit_factor) : String(one));
    const counted = input.kind === 'count' || input.kind === 'length';
    const low = Math.max(size / 16, input.low ?? 0);
    const high = Math.min(size * 256, input.high ?? Infinity);
    this.step.value = '1';
    this.#showStep();
    this.from.value = write(counted ? Math.max(1, Math.floor(low)) : low);
    this.to.value = write(counted ? Math.floor(high) : high);
    this.unit = unitIn(this.from.value);
  }

  #present = () => presentOf(this.#context.report, this.figure.value);

  #bound() {
    this.#isBoundTyped = false;
    if (FEASIBLE.includes(this.figure.value)) {
      this.how.value = '>=';
      this.bound.value = '1';
      return;
    }
    this.bound.value = joined(this.#present());
  }

  #showRun(run) {
    this.#run = run;
    this.start.hidden = run !== null;
    this.stop.hidden = this.progress.hidden = run === null;
    this.progress.removeAttribute('value');
    this.tried.textContent = '';
  }

  // The number of values tried, and the range that the answer is in.
  #tell(input, { tried, of, low, high }) {
    this.progress.max = of;
    this.progress.value = tried;
    this.tried.textContent = t('explore.solve.tried', {
      tried,
      of,
      low: nameOfValue(low, input),
      high: nameOfValue(high, input),
    });
  }

  async #solve(request = this.#context.request, inputs = this.#context.inputs) {
    this.#run?.stop();
    this.#answered = null;
    const input = this.#input();
    const { path } = input;
    const figure = this.figure.value;
    this.answer.replaceChildren();
    let run;
    try {
      const step = this.stepField.hidden || this.step.value.trim() === '1' ? '' : `:${this.step.value.trim()}`;
      const against = this.against.value
        .split(';')
        .map((one) => one.trim())
        .filter(Boolean);
      const bound = against.length ? figure : boundIn(this.bound.value);
      this.bound.setAttribute('aria-invalid', String(bound === undefined));
      if (bound === undefined) return this.#refuse();
      const spec = {
        request,
        range: `${path}=${[this.from, this.to].map((box) => inUnit(box.value.trim(), this.unit)).join(':')}${step}`,
        until: `${figure}${this.how.value}${bound}`,
        against,
        search:
          this.best.value === 'none'
            ? null
            : { for: this.best.value, objective: objectiveFor(figure, this.best.value) },
      };
      run = this.#pool.watch('solveFor', spec, (progress) => run === this.#run && this.#tell(input, progress));
      this.#showRun(run);
      const answer = await run.done;
      if (run !== this.#run) return;
      const said = !answer
        ? h('p', { class: 'ex-status' }, t('explore.solve.stopped'))
        : answer.issues
          ? faults(answer.issues)
          : this.#said(answer, figure);
      this.answer.replaceChildren(said);
      const sets = { ...answer?.held, ...answer?.mapping };
      this.#answered = { inputs, own: [path, ...Object.keys(sets)] };
      this.#tellStale();
    } catch (error) {
      this.answer.replaceChildren(h('p', { class: 'ex-status' }, t('app.stopped', { message: error.message })));
    }
    if (run === this.#run) this.#showRun(null);
  }

  #refuse() {
    const message = t('explore.bound.wrong', { example: joined(this.#present()) || '1' });
    this.answer.replaceChildren(faults([{ path: t('explore.bound'), message }]));
    this.#showRun(null);
    this.#tellStale();
  }

  #use(answer) {
    const { store, inputs } = this.#context;
    const overrides = { ...answer.held, ...answer.mapping, [answer.path]: answer.value };
    store.setInputs(asInputs(inputs, overrides));
  }

  #said(answer, figure) {
    const input = this.#input();
    const name = labelOf(answer.path);
    if (answer.value === null)
      return h('p', { class: 'ex-answer' }, t('explore.answer.none', { input: name, reason: answer.reason }));
    const shown = nameOfValue(answer.value, input);
    return h(
      'div',
      {},
      h(
        'p',
        { class: 'ex-answer' },
        pieces(`${FEASIBLE.includes(figure) ? 'explore.fits' : 'explore.answer'}.${answer.which}`, {
          input: name,
          value: h('b', {}, shown),
          again: nameOfValue(answer.again, input),
          figure: figureName(figure),
          result: h('b', {}, text(answer.figure.value, unitOf(figure))),
        }),
      ),
      ['largest', 'fails_at'].map(
        (known) =>
          answer[known] && h('p', {}, t(`explore.answer.${known}.too`, { value: nameOfValue(answer[known], input) })),
      ),
      answer.other &&
        h(
          'p',
          {},
          pieces('explore.answer.other', {
            figure: figureName(figure),
            result: h('b', {}, text(answer.other.value, unitOf(figure))),
          }),
        ),
      (answer.warnings ?? []).map((warning) => h('p', {}, warning)),
      answer.mapping && h('p', {}, t('explore.answer.mapping', { list: mappingWords(answer.mapping) })),
      h(
        'div',
        { class: 'ex-run' },
        button(t('explore.answer.use'), () => this.#use(answer), {
          'class': 'ex-plain',
          'id': 'solve-use',
          'data-key': 'ex-solve-use',
        }),
      ),
    );
  }
}

function short(field) {
  field.classList.add('short');
  return field;
}
