// A file of recorded requests, dropped or chosen: what they need, how they would be served, and where it breaks. A
// worker of this browser reads and replays it; it is not in the link and not sent to any host.
/** @import {Context} from '../types.js' */
import { lines } from '../charts/lines.js';
import { columnHeads, h, scrolled } from '../dom.js';
import { text, whole } from '../text/format.js';
import { inUnit, unitIn } from '../text/measure.js';
import { Asked } from './asked.js';
import { button, faults, labelled, select, tellStale, textBox } from './controls.js';
import { t } from './texts.js';

const MOST = 64e6; // bytes, as the core reads (core/replay/read_trace.h)
const PERCENTILES = ['mean', '50', '90', '99'];

const bytes = (value) => text(value, 'B');
const seconds = (value) => text(value, 's');
const percent = (value) => text(value, '%');

const table = (id, title, ...rows) =>
  scrolled(title, h('table', { id }, h('caption', { class: 'visually-hidden' }, title), rows));

export class ReplayPanel {
  #pool;
  /** @type {Context} */
  #context = null;
  #file = null; // {name, text}
  #job = null;
  #spec = null; // of the run that is heard
  #answer = null;
  #inputs = null; // that the answer is of
  #width = 0;

  constructor(pool) {
    this.#pool = pool;
    this.file = h('input', { type: 'file', onchange: () => this.#read(this.file.files[0]) });
    this.ttft = textBox('', { placeholder: '1 s' });
    this.tpot = textBox('', { placeholder: '30 ms' });
    this.percentile = select(
      PERCENTILES.map((value) => ({ value, name: value === 'mean' ? t('explore.replay.mean') : `p${value}` })),
      '99',
    );
    this.speed = textBox('1', { inputmode: 'decimal' });
    this.asked = new Asked('replay', {
      ttft: this.ttft,
      tpot: this.tpot,
      percentile: this.percentile,
      speed: this.speed,
    });
    this.start = button(t('explore.replay.start'), () => this.#ask(), {
      'class': 'primary',
      'id': 'replay-start',
      'data-key': 'ex-replay',
      'hidden': true, // there is nothing to play yet
    });
    this.stop = button(t('explore.stop'), () => this.#job?.stop(), {
      'class': 'ex-plain',
      'hidden': true,
      'id': 'replay-stop',
      'data-key': 'ex-replay-stop',
    });
    this.bar = h('progress', { 'max': 1, 'value': 0, 'hidden': true, 'aria-label': t('explore.progress') });
    this.status = h('p', { class: 'ex-status', role: 'status', id: 'replay-progress' });
    this.stale = h('p', { class: 'note', role: 'status' });
    this.faults = h('div', { id: 'replay-faults' });
    this.result = h('div', { class: 'ex-table', id: 'replay-result' });
    this.element = h(
      'section',
      {
        id: 'replay',
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => {
          event.preventDefault();
          this.#read(event.dataTransfer.files[0]);
        },
      },
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.replay.file'), this.file, t('explore.replay.stays')),
        labelled(t('explore.replay.ttft'), this.ttft),
        labelled(t('explore.replay.tpot'), this.tpot),
        labelled(t('explore.replay.percentile'), this.percentile),
        labelled(t('explore.replay.speed'), this.speed),
      ),
      h('div', { class: 'ex-run' }, this.start, this.stop, this.bar),
      this.status,
      this.stale,
      this.faults,
      this.result,
    );
  }

  /** @param {Context} context */
  show(context) {
    this.#context = context;
    this.asked.take(context.store);
    if (this.#answer && context.width !== this.#width) this.#draw();
    this.#tellStale();
  }

  #tellStale() {
    tellStale(this.stale, this.#answer && { inputs: this.#inputs }, this.#context.inputs);
  }

  // Figures of another file or question are not shown as those of this one.
  #clear() {
    this.#answer = null;
    this.result.replaceChildren();
    this.#tellStale();
  }

  async #read(file) {
    if (!file) return undefined;
    if (file.size > MOST) {
      this.#clear();
      this.status.textContent = t('explore.replay.long');
      return undefined;
    }
    this.#file = { name: file.name, text: await file.text() };
    return this.#ask();
  }

  #running(is) {
    this.start.hidden = is;
    this.stop.hidden = !is;
    this.bar.hidden = !is;
  }

  async #ask() {
    const { core, inputs, store } = this.#context;
    // A bare number is in the unit of the example.
    for (const box of [this.ttft, this.tpot]) box.value = inUnit(box.value, unitIn(box.placeholder));
    this.asked.keep(store);
    const target = (box) => box.value.trim() || undefined;
    const speed = Number(this.speed.value.trim() || '1');
    const spec = {
      request: core.requestFor(inputs),
      ttft: target(this.ttft),
      tpot: target(this.tpot),
      percentile: this.percentile.value,
      speed: Number.isFinite(speed) ? speed : this.speed.value,
    };
    this.#job?.stop();
    this.#spec = spec;
    this.faults.replaceChildren();
    this.#running(true);
    this.bar.value = 0;
    this.status.textContent = t('explore.replay.reading', { file: this.#file.name });
    try {
      const hear = (report, state) => spec === this.#spec && this.#hear(report, state, inputs);
      this.#job = await this.#pool.replay(spec, this.#file.text, hear, (error) => this.#end(error));
    } catch (error) {
      this.#end(error);
    }
  }

  #end(error) {
    this.#running(false);
    if (error) this.status.textContent = t('app.stopped', { message: error.message });
  }

  #hear(report, state, inputs) {
    if (state === 'refused') {
      this.#clear();
      this.status.textContent = '';
      this.faults.replaceChildren(faults(report.issues));
      this.#end();
    } else if (state === 'done') {
      this.#answer = report;
      this.#inputs = inputs;
      this.#tellStale();
      this.status.textContent = report.message || report.notes?.join('. ');
      this.#draw();
      this.#end();
    } else {
      this.bar.value = report.done;
      this.status.textContent =
        state === 'stopped' ? t('explore.replay.stopped') : t('explore.replay.playing', { replicas: report.playing });
      if (state === 'stopped') this.#end();
    }
  }

  #draw() {
    this.#width = this.#context.width;
    const { played } = this.#answer;
    this.result.replaceChildren(...(played ? [...this.#verdict(), ...this.#tables(), this.#chart()] : []));
  }

  // What the requests need, and where the scenario's replicas break.
  #verdict() {
    const { breaks, needed, deployment } = this.#answer;
    const words = { devices: whole(deployment.devices), replicas: whole(deployment.replicas) };
    return [
      h(
        'p',
        { class: 'lead', id: 'replay-breaks' },
        breaks
          ? t('explore.replay.breaks', { ...words, at: seconds(breaks.at_s), why: breaks.message })
          : t('explore.replay.whole', words),
      ),
      needed &&
        h(
          'p',
          { id: 'replay-needed' },
          t('explore.replay.needed', {
            devices: whole(needed.devices),
            replicas: whole(needed.replicas),
            cost:
              needed.usd_per_hour === undefined
                ? ''
                : t(`explore.replay.${needed.bought_devices > needed.devices ? 'servers' : 'cost'}`, {
                    usd: text(needed.usd_per_hour, '$'),
                    bought: whole(needed.bought_devices),
                  }),
          }),
        ),
    ].filter(Boolean);
  }

  #tables() {
    const { trace, played } = this.#answer;
    const spread = (name, mean, of, show) => [name, show(mean), show(of.p50), show(of.p90), show(of.p99)];
    const rows = [
      spread(t('explore.replay.prompt'), trace.prompt.mean, trace.prompt, whole),
      spread(t('explore.replay.output'), trace.output.mean, trace.output, whole),
      spread('TTFT', played.ttft_s, played.ttft_percentiles_s, seconds),
      spread('TPOT', played.tpot_s, played.tpot_percentiles_s, seconds),
      spread(t('explore.replay.latency'), played.request_latency_s, played.latency_percentiles_s, seconds),
    ];
    const facts = [
      ['requests', whole(trace.requests)],
      ['span', seconds(trace.span_s)],
      ['rate', t('explore.replay.per_second', { rate: text(trace.requests_per_s, '') })],
      ['throughput', text(played.tokens_per_s, 'token/s')],
      ['hits', percent(played.hit_rate)],
      ['best', percent(trace.best_hit_rate)],
      [
        'kv',
        t('explore.replay.of', { peak: bytes(played.kv_cache_peak_bytes), room: bytes(played.kv_cache_room_bytes) }),
      ],
      ['preemptions', whole(played.preemptions)],
    ];
    return [
      table(
        'replay-facts',
        t('explore.replay'),
        h(
          'tbody',
          {},
          facts.map(([name, value]) =>
            h('tr', {}, h('th', { scope: 'row' }, t(`explore.replay.${name}`)), h('td', {}, value)),
          ),
        ),
      ),
      table(
        'replay-spread',
        t('explore.replay.spread'),
        columnHeads(['', t('explore.replay.mean'), 'p50', 'p90', 'p99']),
        h(
          'tbody',
          {},
          rows.map(([name, ...values]) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, name),
              values.map((value) => h('td', {}, value)),
            ),
          ),
        ),
      ),
    ];
  }

  #chart() {
    const { moments } = this.#answer.played;
    const of = (member) => moments.map((one) => ({ x: one.from_s, y: one[member] }));
    const breaks = this.#answer.breaks;
    return lines({
      id: 'replay-chart',
      title: t('explore.replay.chart'),
      width: this.#width,
      x: { label: t('explore.replay.time'), unit: 's', log: false },
      y: { label: t('explore.replay.requests'), unit: '', log: false },
      series: [
        { name: t('explore.replay.running'), color: 'var(--c-forward)', points: of('running') },
        { name: t('explore.replay.waiting'), color: 'var(--c-launch)', points: of('waiting') },
      ],
      uprights: breaks ? [{ x: breaks.at_s, text: t('explore.replay.here') }] : [],
      summary: t('explore.replay.summary', {
        running: text(Math.max(...moments.map((one) => one.running)), ''),
        waiting: text(Math.max(...moments.map((one) => one.waiting)), ''),
      }),
      columns: [t('explore.replay.time'), t('explore.replay.running'), t('explore.replay.waiting')],
      rows: moments.map((one) => [seconds(one.from_s), text(one.running, ''), text(one.waiting, '')]),
    });
  }
}
