// The user's measurement next to the computed values: the error of each figure, which part would have to be off by how
// much to explain it, and the fitted parameters that would. Kept while the page is open; a calibration consists of
// inputs, so it is in the link.
/** @import {Context} from '../types.js' */
import { pool } from '../engine/shared_pool.js';
import { h } from '../dom.js';
import { labelOf } from '../form/fields.js';
import { nameOf } from '../report/names.js';
import { get } from '../state/paths.js';
import { withChoiceKept } from '../state/scenario.js';
import { number, text, unitOf } from '../text/format.js';
import { inputText } from '../text/inputs.js';
import { errorCell, evidenceTable } from './parts.js';
import { INTERVALS, signedShare } from './runs.js';
import { t } from './texts.js';

const TERMS = 5; // shown of a figure, the largest
const SAME = 1e-3; // relative change of an input that needs no calibration

let kept = null; // what was read of the last measurement
const answers = new Map(); // of the core, by what was asked

export function keepMeasurement(read) {
  kept = read;
  answers.clear();
}

// Undefined while it is computed.
/** @param {Context} context */
function explained(context) {
  const spec = JSON.stringify({
    request: context.request,
    measured: kept.measured.map(({ figure, collective, value }) =>
      figure ? { figure, value } : { collective, value },
    ),
  });
  if (!answers.has(spec)) {
    answers.set(spec, answers.get('last'));
    pool.call('calibrate', spec).then((answer) => {
      answers.set(spec, answer);
      answers.set('last', answer);
      context.stage.draw();
    });
  }
  return answers.get(spec);
}

const titleOf = ({ figure, collective }) =>
  figure
    ? nameOf(figure)
    : t(`own.collective.${collective.kind}`, { size: text(collective.bytes, 'B'), ranks: collective.ranks });
const unitOfOne = ({ figure }) => (figure ? unitOf(figure) : 's');
/** @param {Context} context */
const shownInput = (context, path, value) =>
  text(
    value,
    context.core.described.inputs.find((input) => input.path === path.replace(/\.\d+\./g, '.*.'))?.base_unit ?? '',
  );

// Whether the answer's interval contains the measurement.
/** @param {Context} context */
function held(context, { figure, measured }) {
  const interval = figure && get(context.report, INTERVALS[figure] ?? '');
  if (!interval) return '';
  return measured >= interval.low && measured <= interval.high ? t('own.inside') : t('own.outside');
}

/** @param {Context} context */
function compared(context, list) {
  const most = Math.max(...list.map(({ error }) => Math.abs(error)));
  return evidenceTable({
    caption: t('own.compared'),
    columns: ['figure', 'measured', 'computed', 'error', 'interval'].map((one) => ({ name: t(`own.column.${one}`) })),
    rows: [...list]
      .sort((a, b) => (a.collective?.bytes ?? 0) - (b.collective?.bytes ?? 0))
      .map((one) => [
        titleOf(one),
        text(one.measured, unitOfOne(one)),
        text(one.computed, unitOfOne(one)),
        errorCell(one.error, most),
        held(context, one),
      ]),
  });
}

// First which part alone would have to be off by how much, then which fitted parameter would explain it.
/** @param {Context} context */
function explanation(context, one) {
  const unit = unitOfOne(one);
  const terms = one.terms.slice(0, TERMS);
  return h(
    'section',
    { class: 'ev-part own-why' },
    h('h2', {}, t('own.why', { title: titleOf(one), error: signedShare(one.error) })),
    terms.length > 0 &&
      evidenceTable({
        caption: t('own.terms'),
        columns: ['term', 'value', 'share', 'factor'].map((name) => ({ name: t(`own.column.${name}`) })),
        rows: terms.map(({ path, value, share, factor }) => [
          nameOf(path),
          text(value, unit),
          text(share, '%'),
          factor === null ? t('own.never') : `× ${number(factor)}`,
        ]),
      }),
    one.inputs.length > 0 &&
      evidenceTable({
        caption: t('own.inputs'),
        columns: ['input', 'from', 'to'].map((name) => ({ name: t(`own.column.${name}`) })),
        rows: one.inputs.map(({ path, from, to }) => [
          labelOf(path),
          shownInput(context, path, from),
          to === null ? t('own.unreachable') : shownInput(context, path, to),
        ]),
      }),
  );
}

/** @param {Context} context */
function calibration(context, { measured, calibrated }) {
  if (!calibrated) return h('p', { class: 'note' }, t('own.calibrate.none'));
  const set = calibrated.inputs
    .map(({ path, from, to }) =>
      t('own.calibrate.input', {
        input: labelOf(path),
        from: shownInput(context, path, from),
        to: shownInput(context, path, to),
      }),
    )
    .join('; ');
  const isDone = calibrated.inputs.every(({ from, to }) => Math.abs(to / from - 1) < SAME);
  return h(
    'section',
    { class: 'ev-part', id: 'own-calibrate' },
    h('h2', {}, t('own.calibrate.title')),
    h('p', { class: 'ev-lead' }, isDone ? t('own.calibrate.done') : t('own.calibrate.lead', { set })),
    !isDone &&
      h(
        'button',
        {
          'type': 'button',
          'class': 'button apply ev-more',
          'data-key': 'own-calibrate',
          // A run was measured under one mapping, so the mapping that was compared with it stays.
          'onclick': () => {
            const kept = ['training', 'serving']
              .filter((part) => measured.some(({ figure }) => figure?.startsWith(`${part}.`)))
              .reduce((inputs, part) => withChoiceKept(inputs, part, context.report), context.inputs);
            context.store.setInputs({
              ...kept,
              ...Object.fromEntries(
                calibrated.inputs.map(({ path, to }) => [path, inputText(path, Number(to.toPrecision(6)))]),
              ),
            });
          },
        },
        t('own.calibrate.apply'),
      ),
  );
}

function remarks({ missing, unread, format, name, model }) {
  return [
    h('p', { class: 'note' }, t('own.read', { format: format.title }), name && model && ` ${t('own.model', { name })}`),
    missing.length > 0 &&
      h('p', { class: 'note' }, t('own.missing', { list: missing.map((one) => t(`own.missing.${one}`)).join(', ') })),
    unread.length > 0 &&
      h(
        'details',
        { 'data-key': 'own-unread' },
        h('summary', {}, t('own.unread', { count: unread.length })),
        h(
          'ul',
          {},
          unread.slice(0, 40).map((line) => h('li', {}, h('code', {}, line.slice(0, 200)))),
        ),
      ),
  ];
}

/** @param {Context} context */
export function ownView(context) {
  const paste = h(
    'button',
    {
      'type': 'button',
      'class': 'button apply ev-more',
      'data-key': 'evidence-paste',
      'onclick': () => context.dialogs.paste(),
    },
    t(kept ? 'own.paste.again' : 'own.paste'),
  );
  if (!kept) return [h('p', { class: 'lead' }, t('own.none')), paste];
  const answer = explained(context);
  if (!answer) return [h('p', { class: 'lead' }, t('chart.waiting')), paste];
  if (answer.issues)
    return [
      h('p', { class: 'lead' }, t('own.impossible')),
      h(
        'ul',
        {},
        answer.issues.map(({ path, message }) => h('li', {}, path, ': ', message)),
      ),
      remarks(kept),
      paste,
    ];
  const figures = answer.measured.filter(({ figure }) => figure);
  const shown = figures.length ? figures : answer.measured.slice(0, 2);
  return [
    h('div', { class: 'ev-part' }, compared(context, answer.measured), remarks(kept), paste),
    shown.map((one) => explanation(context, one)),
    calibration(context, answer),
  ];
}
