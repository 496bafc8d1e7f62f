/** @import {Context, Teaching} from '../types.js' */
import { h, scrolled } from '../dom.js';
import { startOf } from '../lessons/expect.js';
import { nameOf } from '../report/names.js';
import { get } from '../state/paths.js';
import { text as figure, unitOf } from '../text/format.js';
import { t } from './texts.js';

// The course as slides, one page each on paper: per lesson its question, the steps with the core's figures, and the
// results. `claims(lesson)` are its checked claims.

const slide = (kind, ...children) => h('section', { class: `slide ${kind}` }, children);

// The inputs at the start of a lesson and after each of its steps.
function stagesOf(lesson) {
  const stages = [startOf(lesson)];
  for (const { set } of lesson.steps) stages.push({ ...stages.at(-1), ...set });
  return stages;
}

/** @param {Context} context */
function figures(context, lesson) {
  const reports = stagesOf(lesson).map((inputs) => context.ask('evaluate', context.core.requestFor(inputs), ''));
  if (reports.some((report) => !report)) return h('p', {}, t('chart.waiting'));
  const columns = reports.map((_, i) => (i ? t('slides.after', { step: i }) : t('lessons.before')));
  const table = h(
    'table',
    { class: 'watched' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('td', {}),
        columns.map((words) => h('th', { scope: 'col' }, words)),
      ),
    ),
    h(
      'tbody',
      {},
      lesson.watch.map((path) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, nameOf(path)),
          reports.map((report) => h('td', {}, figure(get(report, path), unitOf(path)))),
        ),
      ),
    ),
  );
  return scrolled(lesson.title, table);
}

const ofLesson = (context, lesson, at, claims) => [
  slide(
    'asks',
    h('p', { class: 'note' }, t('slides.lesson', { at: at + 1, minutes: lesson.minutes })),
    h('h2', {}, lesson.title),
    h('p', { class: 'lead' }, lesson.question),
    h(
      'ol',
      { type: 'A' },
      lesson.predict.choices.map((words) => h('li', {}, words)),
    ),
  ),
  slide(
    'acts',
    h('h3', {}, t('slides.act', { title: lesson.title })),
    h(
      'ol',
      {},
      lesson.steps.map(({ say }) => h('li', {}, say)),
    ),
    figures(context, lesson),
    h('p', { class: 'note' }, `${t('slides.try')} ${location.href.split('#')[0]}#/lessons/${lesson.id}`),
  ),
  slide(
    'explains',
    h('h3', {}, `${'ABCDEFG'[lesson.predict.answer]}: ${lesson.predict.choices[lesson.predict.answer]}`),
    h('p', {}, lesson.predict.why),
    claims(lesson),
  ),
];

// How many minutes lessons take together.
const minutesOf = (lessons) => lessons.reduce((sum, { minutes }) => sum + minutes, 0);

// The ten lessons in order, and a link to their slides.
/** @param {Teaching} context */
export const syllabus = (context, course, isDone) =>
  h(
    'section',
    { class: 'syllabus' },
    h('h2', {}, t('syllabus.title')),
    h('p', { class: 'note' }, t('syllabus.lead', { minutes: minutesOf(course) })),
    h(
      'ol',
      {},
      course.map((lesson) =>
        h(
          'li',
          { class: isDone(lesson.id) ? 'done' : undefined },
          h('a', { href: `#/lessons/${lesson.id}`, onclick: (event) => context.begin(event, lesson) }, lesson.title),
          ` (${t('lessons.minutes', { minutes: lesson.minutes })})`,
        ),
      ),
    ),
    h(
      'button',
      { 'type': 'button', 'class': 'button', 'data-key': 'slides', 'onclick': () => context.open('lessons', 'slides') },
      t('slides.open'),
    ),
  );

/** @param {Context} context */
export function slides(context, course, claims) {
  const lessons = course.flatMap((lesson, i) => ofLesson(context, lesson, i, claims));
  return [
    h('p', { class: 'crumbs' }, h('a', { href: '#/lessons' }, t('scene.lessons'))),
    h(
      'div',
      { class: 'row slides-tools' },
      h(
        'button',
        { 'type': 'button', 'class': 'primary', 'data-key': 'print-slides', 'onclick': () => window.print() },
        t('slides.print'),
      ),
    ),
    h(
      'div',
      { class: 'slides' },
      slide(
        'title',
        h('h1', { class: 'question', tabindex: -1 }, t('syllabus.title')),
        h('p', { class: 'lead' }, t('syllabus.lead', { minutes: minutesOf(course) })),
        h(
          'ol',
          {},
          course.map(({ title }) => h('li', {}, title)),
        ),
      ),
      lessons,
    ),
  ];
}
