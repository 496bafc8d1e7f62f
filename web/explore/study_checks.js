// A study's figures and its checks in words.
import { nameOf } from '../report/names.js';
import { number, text, unitOf } from '../text/format.js';
import { has } from '../text/strings.js';
import { figureName, partName } from './controls.js';
import { t } from './texts.js';

// A figure of a split device is one of the report.
const reportPath = (path) =>
  path.replace(/^performance\.[a-z]+\./, '').replace(/^split\.device_usd$/, 'cost.device_usd');

export function nameOfFigure(path) {
  if (has(`explore.study.figure.${path}`)) return t(`explore.study.figure.${path}`);
  const own = reportPath(path);
  return /^(training|serving|cost)\./.test(own) ? figureName(own) : nameOf(own);
}

export const unit = (path) => (path.endsWith('bytes_per_s') ? 'B/s' : /_w$/.test(path) ? 'W' : unitOf(path));

export function shown(one, path) {
  if (typeof one === 'number') return text(one, unit(path));
  if (one === null || one === undefined) return '–';
  if (typeof one === 'boolean') return t(one ? 'explore.yes' : 'explore.no');
  if (Array.isArray(one)) return '…';
  return /(^|\.)bound(\.|$)/.test(path) && has(`bound.${one}`) ? t(`bound.${one}`) : String(one);
}

const KINDS = ['falls', 'rises', 'flat', 'ratio', 'between', 'equals', 'matches'];
const kindOf = (check) => KINDS.find((kind) => check && kind in check);
const plain = (label) => label.replaceAll('_', ' '); // "fully_connected" as its chart has it
const quoted = (labels) => labels.map((one) => `“${plain(one)}”`).join(', ');

// Whether a figure's name is of more than one: "Training: Activations", "Bytes moved".
const isPlural = (name) =>
  /[^sui]s$/.test(
    name
      .split(': ')
      .at(-1)
      .split(/ (?:of|per|moved)\b|[,(]/)[0],
  );

// What a check claims: "Manufacturing cost per device falls from “1 die” to “4 dies”".
export function checkWords(check) {
  const kind = kindOf(check);
  if (!kind) return '';
  const path = check[kind];
  if (kind === 'equals' && path.endsWith('.feasible'))
    return t(check.value ? 'explore.check.fits' : 'explore.check.misfits', {
      part: partName(path),
      points: quoted(check.at),
    });
  const points = check.along ?? check.of ?? check.at;
  const range = kind === 'ratio' ? (value) => number(value) : (value) => shown(value, path);
  const figure = nameOfFigure(path);
  return t(`explore.check.${kind}`, {
    figure,
    many: isPlural(figure) ? 2 : 1,
    first: plain(points[0]),
    last: plain(points.at(-1)),
    points: quoted(points),
    low: range(check.low),
    high: range(check.high),
    value: shown(check.value, path),
    count: points.length,
    by: check.by > 1 ? ` ${t('explore.check.by', { by: number(check.by) })}` : '',
    within:
      kind === 'matches'
        ? text(check.within, '%')
        : check.within
          ? ` ${t('explore.check.within', { share: text(check.within, '%') })}`
          : '',
  });
}

// Of points that do not vary, as of a single one, there is no correlation.
const agreementWords = ({ mean_error: error, correlation }) =>
  t(correlation ? 'explore.check.agreement' : 'explore.check.error', {
    error: text(error, '%'),
    correlation: correlation.toFixed(4),
  });

// The figures that it found, in the order of its points.
export function foundWords(check, found) {
  const kind = kindOf(check);
  if (kind === 'matches') return found ? agreementWords(found) : '–';
  const list = Array.isArray(found) ? (typeof found[0] === 'boolean' ? [...new Set(found)] : found) : [found];
  if (kind === 'equals' && check.equals.endsWith('.feasible'))
    return list.map((one) => t(one ? 'explore.check.fits.found' : 'explore.check.misfits.found')).join(', ');
  const say = (one) => (kind === 'ratio' && typeof one === 'number' ? number(one) : shown(one, check?.[kind] ?? ''));
  if (['falls', 'rises'].includes(kind)) return list.map(say).join(' → ');
  return [...new Set(list.map(say))].join(', '); // what holds at all points alike is said once
}
