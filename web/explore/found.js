// Results of a search: the best mappings as a table, the frontier as points, and links into the scenario.
/** @import {Context} from '../types.js' */
import { textWidth } from '../charts/lib/scale.js';
import { scatter } from '../charts/scatter.js';
import { h, redraw, scrolled } from '../dom.js';
import { get } from '../state/paths.js';
import { writeShort } from '../state/link.js';
import { text, unitOf, whole } from '../text/format.js';
import { pieces } from '../text/strings.js';
import { button, hasChanged, labelled, objectiveName, textBox } from './controls.js';
import { asInputs, columnsOf, filtered, sorted, thinned } from './ranking.js';
import { inSentence, mappingWords, shortName, valueWords } from './sweep_values.js';
import { t } from './texts.js';

const MOST_POINTS = 200;
const LIVE_ROWS = 5;
const FIRST_ROWS = 50; // of a table; the others come when they are asked for
const FIRST_CARDS = 10; // as many where each row is a card
const CARDS_TO = 620; // px of a scene too narrow for a table
const GAP = 18; // px between columns
const LINKS = 90; // px of the column that leads into the scenario
const FRONT_MS = 1000; // between drawings of a front that grows

// About how wide a table is at least: headings break between words.
const leastWidth = (names) =>
  LINKS + names.reduce((sum, name) => sum + GAP + Math.max(...name.split(' ').map((word) => textWidth(word, 13))), 0);

// A preset has the name of its kind.
const memberOf = (path) => shortName(path.replace(/\.preset$/, ''));

const capitalized = (name) => name.slice(0, 1).toUpperCase() + name.slice(1);

export class Found {
  /** @type {Context} */
  #context = null;
  #search = null; // {of, spec, inputs, series}: series {key, names, colors} where the rows are of several kinds
  #report = null;
  #state = 'idle';
  #sort = { key: 'rank', descending: false };
  #chosen = null; // index of a mapping in the space
  #used = null;
  #whole = false; // every row of the table is shown
  #width = 0;
  #drawn = 0;
  #nameOf;

  // `nameOf(path, id)`: the name of a catalogue entry that a search varies; undefined of anything else.
  /** @param {(path: string, id: string) => string | undefined} nameOf */
  constructor(nameOf = () => undefined) {
    this.#nameOf = nameOf;
    this.filter = textBox('', { oninput: () => this.#drawTable() });
    this.answer = h('p', { class: 'ex-answer' });
    this.front = h('div', {});
    this.table = h('div', {});
    this.filterField = labelled(t('explore.filter'), this.filter, t('explore.filter.hint'));
    this.head = h('div', { class: 'ex-head' }, h('h2', {}, t('explore.best')), this.filterField);
    this.status = h('p', { class: 'ex-status', role: 'status' });
    this.element = h(
      'div',
      { class: 'ex-table', hidden: true },
      this.answer,
      this.front,
      this.head,
      this.status,
      this.table,
    );
  }

  /** @param {Context} context */
  show(context) {
    const changed = context.inputs !== this.#context?.inputs || context.report !== this.#context?.report;
    this.#context = context;
    if (!this.#report) return;
    if (changed) this.#tell();
    if (changed || context.width !== this.#width) this.#draw();
  }

  begin(search) {
    this.#search = search;
    this.#report = null;
    this.#chosen = null;
    this.#used = null;
    this.#whole = false;
    this.#sort = { key: 'rank', descending: false };
    this.element.hidden = true;
    this.element.querySelector('.infeasible')?.remove();
  }

  hear(report, state) {
    this.#report = report;
    this.#state = state;
    this.element.hidden = report.best.length === 0 && state === 'running';
    this.#tell();
    this.#draw();
  }

  #rows() {
    return this.#report.best.map((row, at) => ({ ...row, rank: at + 1 }));
  }

  #name = (key) =>
    key === 'rank'
      ? t('explore.rank')
      : key === 'cluster'
        ? t('group.cluster')
        : this.#isMember(key)
          ? capitalized(memberOf(key))
          : objectiveName(this.#search.of, key);
  #isMember = (key) => this.#report.best.some(({ overrides }) => Object.hasOwn(overrides, key));
  // A unit in the column's header is not repeated.
  #unit = (key) => (unitOf(key) === 'token/s' && this.#name(key).includes('tokens/s') ? '' : unitOf(key));
  #say = (key, value) =>
    typeof value === 'number'
      ? text(value, this.#unit(key))
      : value === undefined || value === null
        ? '–'
        : this.#member(key, value);
  #member = (path, value) => this.#nameOf(path, value) ?? valueWords(path, value);
  #figures = () => [this.#search.spec.objective, ...this.#search.spec.pareto];
  #words = (overrides, paths) =>
    paths
      .filter((path) => overrides[path] !== undefined && overrides[path] !== null)
      .map((path) => `${inSentence(memberOf(path))} ${this.#member(path, overrides[path])}`)
      .join(', ');

  // A figure of the scenario itself; what cannot run has none.
  #own(key) {
    const { report } = this.#context;
    return report[this.#search.of]?.feasible ? get(report, `${this.#search.of}.${key}`) : undefined;
  }

  // The scenario's point on the chart, if its report has both figures.
  #here(x, y) {
    const [across, up] = [x, y].map((key) => this.#own(key));
    return typeof across === 'number' && typeof up === 'number' && !this.#search.series
      ? { x: across, y: up, label: t('explore.here') }
      : undefined;
  }

  #tell() {
    const mapping = Object.keys(this.#report.best[0]?.overrides ?? {});
    const stale = hasChanged(this.#search.inputs, this.#context.inputs, mapping);
    this.status.textContent = stale
      ? t('explore.stale')
      : this.#used
        ? t('explore.used', { rank: this.#used })
        : t('explore.best.hint');
  }

  #use(row) {
    this.#used = row.rank ?? t('explore.chosen').toLowerCase();
    this.#context.store.setInputs(asInputs(this.#context.inputs, row.overrides));
  }

  #link(row, rank) {
    const link = h(
      'a',
      { 'class': 'link', 'href': location.hash, 'aria-label': t('explore.link.of', { rank }) },
      t('explore.link'),
    );
    const { scene, others, view } = this.#context.store;
    writeShort({ scene, sub: '', others, view, inputs: asInputs(this.#context.inputs, row.overrides) }).then((hash) =>
      link.setAttribute('href', hash),
    );
    return link;
  }

  #draw() {
    const isResized = this.#width !== this.#context.width;
    this.#width = this.#context.width;
    const { best } = this.#report;
    const over = this.#state !== 'running';
    this.head.hidden = best.length === 0;
    this.answer.hidden = best.length === 0 || Boolean(this.#search.series);
    if (!this.answer.hidden) this.answer.replaceChildren(...this.#sentence(best[0]));
    this.filterField.hidden = !over;
    this.status.hidden = best.length === 0 || !over;
    if (best.length === 0) {
      this.front.replaceChildren();
      this.table.replaceChildren(h('p', { class: 'infeasible' }, t('explore.none')));
      return;
    }
    const now = performance.now();
    if (over || isResized || this.front.childElementCount === 0 || now - this.#drawn > FRONT_MS) {
      this.#drawn = now;
      this.#drawFront();
    }
    this.#drawTable();
  }

  // The best mapping in a sentence, compared with the scenario.
  #sentence(row) {
    const [key] = this.#figures();
    const now = this.#own(key);
    const change = typeof now === 'number' && now > 0 ? row[key] / now - 1 : 0;
    const words = mappingWords(row.overrides, this.#member);
    return pieces(this.#state === 'running' ? 'explore.best.sofar' : 'explore.best.is', {
      figure: inSentence(this.#name(key)),
      value: h('b', {}, this.#say(key, row[key])),
      change:
        Math.abs(change) > 0.005
          ? t(change > 0 ? 'explore.best.more' : 'explore.best.less', { share: text(Math.abs(change), '%') })
          : '',
      mapping: words,
    });
  }

  #drawFront() {
    const { pareto } = this.#report;
    const [y, x] = this.#figures();
    if (!x || pareto.length < 2) {
      this.front.replaceChildren();
      return;
    }
    const { series } = this.#search;
    const { nth, points } = thinned(pareto, MOST_POINTS);
    const { differ } = columnsOf(pareto);
    const label = (p) =>
      `${this.#name(y)} ${this.#say(y, p[y])}, ${this.#name(x)} ${this.#say(x, p[x])}: ${this.#words(p.overrides, differ)}`;
    const chart = scatter({
      id: 'explore-front',
      title: t('explore.front', { y: this.#name(y), x: this.#name(x) }),
      subtitle: t('explore.front.sub'),
      width: this.#width,
      x: { label: this.#name(x), unit: unitOf(x) },
      y: { label: this.#name(y), unit: unitOf(y) },
      here: this.#here(x, y),
      series: series?.names.map((id, at) => ({
        name: this.#member(series.key, id),
        color: series.colors[at % series.colors.length],
      })),
      points: points.map((p) => ({
        x: p[x],
        y: p[y],
        label: label(p),
        chosen: p.index === this.#chosen,
        series: series && series.names.indexOf(p.overrides[series.key]),
      })),
      summary: [
        t('explore.front.summary', { count: pareto.length }),
        nth > 1 && t('explore.front.thinned', { nth, count: pareto.length }),
      ]
        .filter(Boolean)
        .join(' '),
      onpoint: (at) => this.#choose(points[at]),
      columns: [this.#name(y), this.#name(x), ...differ.map(this.#name)],
      rows: points.map((p) => [
        { value: p[y], unit: unitOf(y) },
        { value: p[x], unit: unitOf(x) },
        ...differ.map((path) => this.#say(path, p.overrides[path])),
      ]),
    });
    const chosen = pareto.find(({ index }) => index === this.#chosen);
    redraw(this.front, chart, chosen && this.#detail(chosen, label(chosen)));
  }

  #choose(point) {
    this.#chosen = point.index;
    this.#drawFront();
    this.#drawTable();
    this.front.querySelector('.ex-chosen button')?.focus({ preventScroll: true });
  }

  #detail(row, words) {
    const rank = this.#rows().find(({ index }) => index === row.index)?.rank;
    const name = rank ?? t('explore.chosen').toLowerCase();
    return h(
      'div',
      { 'class': 'ex-chosen', 'role': 'group', 'aria-label': t('explore.chosen') },
      h('p', {}, h('b', {}, t('explore.chosen')), `: ${words} `),
      button(t('explore.use'), () => this.#use({ ...row, rank }), {
        'class': 'link',
        'data-key': 'ex-use-chosen',
        'aria-label': t('explore.use.of', { rank: name }),
      }),
      ' ',
      this.#link(row, name),
    );
  }

  #drawTable() {
    const all = this.#rows();
    const running = this.#state === 'running';
    const columns = columnsOf(all);
    const { common } = columns;
    const differ = columns.differ.filter(
      (path) => path !== 'serving.devices' || !columns.differ.includes('cluster.devices'),
    );
    const rows = filtered(sorted(all, this.#sort.key, this.#sort.descending), running ? '' : this.filter.value);
    const keys = ['rank', ...this.#figures(), ...differ];
    const hasCards = this.#width < CARDS_TO || leastWidth(keys.map(this.#name)) > this.#width;
    const first = hasCards ? FIRST_CARDS : FIRST_ROWS;
    const shown = running ? rows.slice(0, LIVE_ROWS) : this.#whole ? rows : rows.slice(0, first);
    const head = (key) => {
      const { key: by, descending } = this.#sort;
      const order = key === by ? (descending ? 'descending' : 'ascending') : undefined;
      const turn = () => {
        this.#sort = { key, descending: key === by && !descending };
        this.#drawTable();
      };
      return h(
        'th',
        { 'scope': 'col', 'aria-sort': order },
        button(
          [this.#name(key), order === 'ascending' && ' ▲', order === 'descending' && ' ▼'].filter(Boolean).join(''),
          turn,
          {
            'data-key': `ex-sort-${key}`,
            'aria-label': t('explore.sort', { name: this.#name(key) }),
          },
        ),
      );
    };
    const cells = (row) =>
      keys.slice(1).map((key) =>
        h(
          'td',
          {
            'class': key === this.#figures()[0] ? 'first' : undefined,
            'data-name': this.#name(key).replaceAll('/', '/\u200b'),
          },
          this.#say(key, this.#isMember(key) ? row.overrides[key] : row[key]),
        ),
      );
    redraw(
      this.table,
      common.length > 0 &&
        all.length > 1 &&
        h('p', { class: 'ex-status' }, t('explore.all', { list: this.#words(all[0].overrides, common) })),
      scrolled(
        t('explore.best'),
        h(
          'table',
          { class: hasCards ? 'ex-points' : undefined },
          h(
            'thead',
            {},
            h('tr', {}, head('rank'), h('td', {}, hasCards && t('explore.sort.by')), keys.slice(1).map(head)),
          ),
          h(
            'tbody',
            {},
            shown.map((row) =>
              h(
                'tr',
                { class: row.index === this.#chosen ? 'chosen' : undefined },
                h('th', { scope: 'row' }, row.rank),
                h(
                  'td',
                  {},
                  button(t('explore.use'), () => this.#use(row), {
                    'class': 'link',
                    'data-key': `ex-use-${row.rank}`,
                    'aria-label': t('explore.use.of', { rank: row.rank }),
                  }),
                  !running && [' ', this.#link(row, row.rank)],
                ),
                cells(row),
              ),
            ),
          ),
        ),
      ),
      !running &&
        rows.length > shown.length &&
        button(
          t('explore.rows', { count: whole(rows.length) }),
          () => {
            this.#whole = true;
            this.#drawTable();
          },
          { 'class': 'ex-plain', 'data-key': 'ex-rows' },
        ),
    );
  }
}
