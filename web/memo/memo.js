// A page about the open scenario: question, answers with their intervals, assumptions, and alternatives. It reads the
// report, the advice and the catalogue; it makes only texts, so paper and Markdown are the same.
import { INTERVALS } from '../evidence/runs.js';
import { chosenIn } from '../form/chosen.js';
import { labelOf } from '../form/fields.js';
import { t as nameOfChoice } from '../form/texts.js';
import { changeText, chooseShown, columnsOf, usersText } from '../report/advice.js';
import { answersOf, intervalText } from '../report/answers.js';
import { phasesOf } from '../report/limits.js';
import { nameOf } from '../report/names.js';
import { inputName } from '../report/print.js';
import { questionText } from '../report/sentence.js';
import { get } from '../state/paths.js';
import { parts, text } from '../text/format.js';
import { has } from '../text/strings.js';
import { t } from './texts.js';

const SHOWN = 3; // rows of changes, and of other hardware
const PARTS = ['model', 'cluster', 'training', 'serving', 'cost'];
const EVIDENCE = ['training.step_time_s', 'serving.tpot_s', 'diffusion.latency_s'];

function plain(path, value) {
  const choice = `choice.${path.split('.').at(-1)}.${value}`;
  if (has(choice)) return nameOfChoice(choice);
  return typeof value === 'boolean' ? t(value ? 'memo.on' : 'memo.off') : String(value);
}
const present = (list) => list.filter(Boolean);

function answerLine({ title, subject, value, unit, suffix, known, line, more, memory, trouble }) {
  const shown = value === undefined || trouble ? null : parts(value, unit);
  const figure = shown && [shown.number, shown.unit].filter(Boolean).join('\u00a0');
  return {
    name: present([title, subject]).join(' · '),
    value: trouble ?? (figure ? present([figure, suffix]).join(suffix?.startsWith('/') ? '' : ' ') : '–'),
    interval: (!trouble && shown && intervalText(known, value, unit)) || '',
    note: present([line, more, memory?.words]).join(' · '),
  };
}

// The presets that the scenario names, once each, in the order of its inputs: [{name, sources: [[members, source]]}].
function citations({ scenario, catalogue, inputs: described }) {
  const used = new Map();
  for (const { path, presets: kind } of described.filter(({ presets }) => presets)) {
    const [owner, below] = path.split('.*');
    const found =
      below === undefined
        ? [get(scenario, owner)]
        : [get(scenario, owner) ?? []].flat().map((one) => (below ? get(one, below.slice(1)) : one));
    for (const one of found) {
      const id = typeof one === 'string' ? one : one?.preset;
      const entry = id && catalogue.find((known) => known.kind === kind && known.id === id);
      if (entry?.sources)
        used.set(`${kind} ${id}`, {
          name: entry.name ?? id,
          sources: Object.entries(entry.sources).filter(([, source]) => source !== 'same'),
        });
    }
  }
  return [...used.values()];
}

/** @type {(figure: string, run: string) => string | undefined} */
const unnamed = () => undefined;

// `advice` is null until it is there; `runNamed(figure, id)` says a published run in words, undefined until it can.
export function memoOf({
  report,
  faulty,
  inputs,
  described,
  catalogue,
  advice,
  runNamed = unnamed,
  link,
  release,
  date,
}) {
  const { scenario } = report;
  const row = ({ title, effort, figures }) => ({
    title,
    effort: present([usersText(figures, report), effort]).join(' '),
    effects: columnsOf(report).map((column) => changeText(column, figures, report)),
  });
  const isHardware = ({ id }) => id.startsWith('device.');
  const best = advice?.changes ?? [];
  return {
    question: questionText(scenario, inputs),
    answers: answersOf({ ...report, faulty }).map(answerLine),
    limits: phasesOf({ report, scenario }).map(({ title, bound, detail, path }) => ({
      title,
      value: text(get(report, path), 's'),
      bound: `${bound}: ${detail}`,
    })),
    settings: PARTS.map((part) => ({
      part: t(`group.${part}`),
      lines: chosenIn(part, { scenario, report }).lines,
    })).filter(({ lines }) => lines.length),
    changed: Object.entries(inputs).map(([path, value]) => ({ label: inputName(path), value, path })),
    chosen: ['training', 'serving'].flatMap((part) =>
      (report[part]?.chosen ?? []).map(({ path, value, why }) => ({
        label: inputName(path),
        value: plain(path, value),
        why,
      })),
    ),
    assumed: [
      ...new Set(['training', 'serving', 'diffusion', 'cost'].flatMap((part) => report[part]?.assumed ?? [])),
    ].map(labelOf),
    warnings: report.warnings ?? [],
    evidence: EVIDENCE.map((figure) => [figure, get(report, INTERVALS[figure])])
      .filter(([, known]) => known?.why)
      .map(([figure, { why, nearest }]) => ({
        name: nameOf(figure),
        why: why.replace(nearest, () => runNamed(figure, nearest) ?? nearest),
      })),
    columns: columnsOf(report).map(({ id }) => t(`advice.column.${id}`)),
    changes:
      advice &&
      chooseShown(
        best.filter((one) => !isHardware(one)),
        SHOWN,
      ).map(row),
    alternatives: advice && best.filter(isHardware).slice(0, SHOWN).map(row),
    citations: citations({ scenario, catalogue, inputs: described.inputs }),
    link,
    release,
    date,
  };
}

const SPACES = /[\u00a0\u202f\u2009]/g;
const cell = (words) => words.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head, rows) =>
  [
    `| ${head.map(cell).join(' | ')} |`,
    `|${head.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
  ].join('\n');
const list = (rows) => rows.map((row) => `- ${row}`).join('\n');

export function memoMarkdown(memo) {
  const changes = (rows) =>
    table(
      [t('memo.change'), ...memo.columns],
      rows.map(({ title, effects }) => [title, ...effects]),
    );
  const sections = [
    [
      null,
      table(
        [t('memo.figure'), t('memo.value'), t('memo.interval'), t('memo.more')],
        memo.answers.map(({ name, value, interval, note }) => [name, value, interval, note]),
      ),
    ],
    ['memo.limits', list(memo.limits.map(({ title, value, bound }) => `${title}, ${value}: ${bound}`))],
    ['memo.assumptions', list(memo.settings.map(({ part, lines }) => `${part}: ${lines.join(' · ')}`))],
    ['memo.set', list(memo.changed.map(({ label, value, path }) => `${label}: ${value} (\`${path}\`)`))],
    ['memo.chosen', list(memo.chosen.map(({ label, value, why }) => `${label}: ${value}. ${why}`))],
    ['memo.assumed', list(memo.assumed)],
    ['memo.warnings', list(memo.warnings)],
    ['memo.changes', memo.changes?.length ? changes(memo.changes) : ''],
    ['memo.alternatives', memo.alternatives?.length ? changes(memo.alternatives) : ''],
    ['memo.evidence', list(memo.evidence.map(({ name, why }) => `${name}: ${why}`))],
    [
      'memo.sources',
      memo.citations
        .map(
          ({ name, sources }) =>
            `- ${name}\n${sources.map(([members, source]) => `  - ${members}: ${source}`).join('\n')}`,
        )
        .join('\n'),
    ],
  ];
  const body = sections
    .filter(([, words]) => words)
    .map(([title, words]) => (title ? `## ${t(title)}\n\n${words}` : words));
  return (
    [
      `# ${t('memo.title')}`,
      memo.question,
      ...body,
      t('memo.made', { release: memo.release, date: memo.date }),
      `<${memo.link}>`,
    ]
      .join('\n\n')
      .replace(SPACES, ' ') + '\n'
  );
}
