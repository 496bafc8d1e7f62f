// The search for the best mapping: objective, size of the space, progress, and results.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { timeLeft } from '../engine/pool.js';
import { text, whole } from '../text/format.js';
import { Asked, choose } from './asked.js';
import { OPENING_MS, button, faults, fillSelect, labelled, objectiveName, reasonName, select } from './controls.js';
import { Found } from './found.js';
import { Limits } from './limits.js';
import { QUESTIONS } from './questions.js';
import { t } from './texts.js';

const TOP = 50;
const SIZE_DELAY = 250;
const AGAINST = { step_time_s: 'memory_headroom_bytes', tokens_per_s_per_device: 'tokens_per_s_per_user' };
const FIRST = { training: 'step_time_s', serving: 'tokens_per_s_per_device' };

export class SearchPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #objectives = null;
  #of = null;
  #limits = new Limits({ context: () => this.#context, onchange: () => this.#changed() });
  #job = null;
  #state = 'idle';
  #began = 0;
  #asked = '';
  #searched = ''; // the last search's question
  #isOpening = false; // the panel has just been opened, and is to have an answer
  #isOwn = false; // the search that runs came with the panel
  #sizing = 0;
  #wanted = null; // the part that a ready question is about, until the scenario has it
  #parts = {};

  constructor(pool) {
    this.#pool = pool;
    const parts = this.#parts;
    parts.of = select([], '', (of) => {
      this.#turnTo(of);
      this.#changed();
    });
    parts.objective = select([], '', () => {
      this.#offerAgainst();
      this.#changed();
    });
    parts.against = select([], '', () => this.#changed());
    parts.size = h('p', { class: 'ex-status', role: 'status', id: 'explore-size' });
    parts.start = button(t('explore.start'), () => this.#ask(), {
      'class': 'primary',
      'id': 'explore-start',
      'data-key': 'ex-start',
    });
    parts.stop = button(t('explore.stop'), () => this.#stop(), {
      'class': 'ex-plain',
      'id': 'explore-stop',
      'data-key': 'ex-stop',
      'hidden': true,
    });
    parts.resume = button(t('explore.resume'), () => this.#resume(), {
      'class': 'ex-plain',
      'data-key': 'ex-resume',
      'hidden': true,
    });
    parts.bar = h('progress', { 'max': 1, 'value': 0, 'hidden': true, 'aria-label': t('explore.progress') });
    parts.progress = h('p', { 'class': 'ex-status', 'id': 'explore-progress', 'aria-live': 'polite' });
    parts.rejected = h('p', { class: 'ex-status' });
    parts.faults = h('div', {});
    this.found = new Found();
    const limits = () => this.#limits.texts.join(';');
    this.asked = new Asked('search', {
      of: parts.of,
      objective: parts.objective,
      against: parts.against,
      limits: {
        get value() {
          return limits();
        },
      },
    });
    this.element = h(
      'section',
      { class: 'ex-search' },
      h(
        'p',
        { class: 'ex-questions' },
        t('explore.questions'),
        ': ',
        QUESTIONS.map((one, at) => [
          at > 0 && ', ',
          button(t(`explore.question.${one.id}`), () => this.#put(one), {
            'class': 'link',
            'data-key': `ex-question-${one.id}`,
          }),
        ]),
      ),
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.for'), parts.of),
        labelled(t('explore.objective'), parts.objective),
        labelled(t('explore.against'), parts.against),
      ),
      this.#limits.box,
      this.#limits.list,
      parts.size,
      h('div', { class: 'ex-run' }, parts.start, parts.stop, parts.resume, parts.bar),
      parts.progress,
      parts.rejected,
      parts.faults,
      this.found.element,
    );
    pool.call('searchObjectives').then(
      (objectives) => {
        this.#objectives = objectives;
        if (!this.#context) return;
        this.#turnTo(this.#of ?? this.#first());
        this.#hear();
        this.#changed();
      },
      (error) => this.#broken(error),
    );
  }

  /** @param {Context} context */
  show(context) {
    this.#context = context;
    this.#isOpening ||= !this.element.isConnected && this.#state !== 'running';
    if (this.#wanted && context.request[this.#wanted]) this.#wanted = null;
    if (this.#objectives && !this.#wanted && (!this.#of || !context.request[this.#of])) this.#turnTo(this.#first());
    this.found.show(context);
    this.#hear();
    this.#changed();
  }

  #first() {
    return this.#context.request.training ? 'training' : 'serving';
  }

  #turnTo(of) {
    this.#of = of;
    const { request } = this.#context;
    const parts = this.#parts;
    fillSelect(
      parts.of,
      ['training', 'serving']
        .filter((one) => request[one] || one === of)
        .map((one) => ({ value: one, name: t(`explore.for.${one}`) })),
      of,
    );
    const priced = (name) => request.cost || !name.includes('usd');
    this.offered = (this.#objectives[of] ?? []).filter(({ name }) => priced(name));
    fillSelect(
      parts.objective,
      this.offered.map(({ name, better }) => ({
        value: name,
        name: t(`explore.better.${better}`, { name: objectiveName(of, name) }),
      })),
      FIRST[of],
    );
    this.#limits.offer({ of, members: this.#objectives.members[of], offered: this.offered });
    this.#offerAgainst();
  }

  // An example: its scenario and its question.
  #put(question) {
    this.#set(question);
    this.#wanted = question.of;
    this.asked.keep(this.#context.store);
    this.#context.store.setInputs({ ...question.inputs });
  }

  // The link's question.
  #hear() {
    const asked = this.#objectives && this.asked.news(this.#context.store);
    if (!this.#objectives?.members[asked?.of]) return;
    const limits = (asked.limits ?? '')
      .split(';')
      .map((one) => /^([\w.]+)(<=|>=|=)(.+)$/.exec(one))
      .filter(Boolean);
    this.#set({ ...asked, limits: limits.map(([, path, how, value]) => ({ path, how, value })) });
  }

  /** @param {{of: string, objective?: string, against?: string, limits?: {path: string, how: string, value: string}[]}} question */
  #set({ of, objective, against, limits = [] }) {
    this.#turnTo(of);
    const { objective: first, against: second } = this.#parts;
    choose(first, objective);
    this.#offerAgainst();
    choose(second, against);
    for (const { path, how, value } of limits) this.#limits.take(path, how, value);
  }

  #ask() {
    this.asked.keep(this.#context.store);
    return this.#begin();
  }

  #offerAgainst() {
    const { objective, against } = this.#parts;
    const chosen = against.value || AGAINST[objective.value];
    fillSelect(
      against,
      [
        { value: '', name: t('explore.against.none') },
        ...this.offered
          .filter(({ name }) => name !== objective.value)
          .map(({ name }) => ({ value: name, name: objectiveName(this.#of, name) })),
      ],
      chosen === objective.value ? '' : chosen,
    );
  }

  #spec() {
    const { objective, against } = this.#parts;
    return {
      request: this.#context.request,
      for: this.#of,
      objective: objective.value,
      pareto: against.value ? [against.value] : [],
      limits: this.#limits.texts,
      top: TOP,
    };
  }

  // The question has changed: counts its space, and marks the previous results as such.
  #changed() {
    if (!this.#objectives || !this.#of) return;
    const asked = JSON.stringify(this.#spec());
    if (this.#state === 'running') {
      if (this.#isOwn && asked !== this.#searched) this.#stop();
      return;
    }
    if (asked === this.#asked) {
      this.#open(asked);
      return;
    }
    this.#asked = asked;
    clearTimeout(this.#sizing);
    this.#parts.size.textContent ||= t('explore.size.waiting');
    this.#sizing = setTimeout(async () => {
      try {
        const answer = await this.#pool.sizeOf(JSON.parse(asked));
        if (asked !== this.#asked) return;
        this.#parts.start.disabled = Boolean(answer.issues);
        this.#parts.faults.replaceChildren(...(answer.issues ? [faults(answer.issues)] : []));
        this.#parts.size.textContent = answer.issues
          ? ''
          : t(this.#pool.size > 1 ? 'explore.size' : 'explore.size.one', {
              count: whole(answer.space),
              workers: this.#pool.size,
            });
        this.#open(asked);
      } catch (error) {
        this.#broken(error);
      }
    }, SIZE_DELAY);
  }

  // The panel opens with an answer: the search stops by itself if it is long, if the panel is left, or if another is
  // started.
  #open(asked) {
    if (!this.#isOpening) return;
    this.#isOpening = false;
    if (asked === this.#searched || this.#parts.start.disabled) return;
    this.#begin();
    this.#isOwn = true;
    setTimeout(() => this.#isOwn && this.#stop(), OPENING_MS);
  }

  async #begin() {
    const spec = this.#spec();
    this.#searched = JSON.stringify(spec);
    this.#turn('running');
    this.#began = performance.now();
    this.#parts.bar.value = 0;
    this.#parts.progress.textContent = t('chart.waiting');
    this.#parts.faults.replaceChildren();
    this.found.begin({
      of: this.#of,
      spec,
      objective: this.offered.find(({ name }) => name === spec.objective),
      inputs: this.#context.inputs,
    });
    try {
      this.#job = await this.#pool.search(
        spec,
        (report, state) => this.#heard(report, state),
        (error) => this.#broken(error),
      );
    } catch (error) {
      this.#broken(error);
    }
  }

  // Acts at once on the screen; the workers stop within a chunk.
  #stop() {
    this.#isOwn = false;
    this.#job?.stop();
    this.#parts.stop.disabled = true;
  }

  #resume() {
    this.#began = performance.now() - this.#spent;
    this.#turn('running');
    this.#job.resume();
  }

  #spent = 0;

  #heard(report, state) {
    const { bar, progress, rejected } = this.#parts;
    if (state === 'refused') {
      this.#turn('idle');
      progress.textContent = '';
      this.#parts.faults.replaceChildren(faults(report.issues));
      return;
    }
    this.#spent = performance.now() - this.#began;
    bar.value = report.done / report.space;
    const words = { done: whole(report.done), space: whole(report.space), feasible: whole(report.feasible) };
    if (this.#isOwn && !this.element.isConnected) this.#stop();
    if (state === 'running') {
      const seconds = timeLeft(report, this.#spent / 1000);
      const left = seconds === undefined ? '' : t('explore.left', { time: text(Math.max(1, Math.ceil(seconds)), 's') });
      progress.textContent = t('explore.progress.text', { ...words, left });
    } else if (state === 'stopped') {
      progress.textContent = t('explore.stopped', words);
    } else {
      progress.textContent = t('explore.done', { ...words, time: text(this.#spent / 1000, 's') });
    }
    const reasons = Object.entries(report.rejected).sort((a, b) => b[1] - a[1]);
    rejected.textContent = reasons.length
      ? t('explore.rejected', {
          list: reasons
            .map(([reason, count]) =>
              t('explore.rejected.one', { count: whole(count), reason: reasonName(this.#of, reason) }),
            )
            .join(', '),
        })
      : '';
    this.found.hear(report, state);
    if (state === 'running') return;
    this.#isOwn = false;
    this.#turn(state);
  }

  #turn(state) {
    const { start, stop, resume, bar } = this.#parts;
    const hadFocus = document.activeElement === stop || document.activeElement === start;
    this.#state = state;
    start.hidden = state === 'running';
    start.textContent = t(state === 'idle' ? 'explore.start' : 'explore.again');
    stop.hidden = state !== 'running';
    stop.disabled = false;
    resume.hidden = state !== 'stopped';
    bar.hidden = state === 'idle';
    if (hadFocus) (state === 'running' ? stop : start).focus({ preventScroll: true });
    if (state !== 'running') this.#changed();
  }

  #broken(error) {
    this.#turn('idle');
    this.#parts.size.textContent = '';
    this.#parts.progress.textContent = t('app.stopped', { message: error.message });
  }
}
