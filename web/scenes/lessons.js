/** @import {Context, Teaching} from '../types.js' */
import { columnHeads, h, svg } from '../dom.js';
import { addStyle } from '../host.js';
import { check, scenariosOf, startOf } from '../lessons/expect.js';
import { done, markDone } from '../lessons/progress.js';
import { sayTheSame } from '../state/scenario.js';
import { get } from '../state/paths.js';
import { number, text as figure, unitOf } from '../text/format.js';
import { nameOf } from '../report/names.js';
import { heading, unknownPlace } from './parts.js';
import { slides, syllabus } from './slides.js';
import { t } from './texts.js';

await addStyle('style/lessons.css');

// The subject of a lesson, by its scene: its tag and its drawing.
const TAGS = { serve: 'serving', train: 'training', memory: 'memory', chip: 'cost' };
const tagOf = ({ scene }) => TAGS[scene.split('/')[0]];
const DRAWINGS = {
  serving: 'M4 28L18 10H52M18 10V32M26 18h.1M38 14h.1M46 22h.1', // a roofline with its points
  training: 'M4 8h14M22 8h14M10 16h14M28 16h14M16 24h14M34 24h14', // passes of three pipeline stages
  memory: 'M4 6h44v6H4zM4 16h30v6H4zM4 26h18v6H4z', // three stacked bars
  cost: 'M28 4a14 14 0 1 0 .1 0M16 12h24M15 18h26M16 24h24M22 6v24M28 4v28M34 6v24', // a wafer cut into dies
};

const thumbnail = (tag) =>
  svg(
    'svg',
    { 'class': 'thumb', 'width': 56, 'height': 36, 'viewBox': '0 0 56 36', 'aria-hidden': 'true' },
    svg('path', { d: DRAWINGS[tag] }),
  );

/** @param {Teaching} context */
const item = (context, lesson) =>
  h(
    'li',
    { class: done(lesson.id) ? 'done' : undefined },
    thumbnail(tagOf(lesson)),
    h(
      'a',
      {
        'href': `#/lessons/${lesson.id}`,
        'data-key': `lesson-${lesson.id}`,
        'onclick': (event) => context.begin(event, lesson),
      },
      lesson.title,
    ),
    h(
      'small',
      {},
      ` ${t(`lessons.tag.${tagOf(lesson)}`)} · ${t('lessons.minutes', { minutes: lesson.minutes })}${done(lesson.id) ? ` · ${t('lessons.done')}` : ''}`,
    ),
    h('p', {}, lesson.question),
  );

// Tags as buttons: those of one tag, or all.
/** @param {Context} context */
function tagButtons(context, lessons, chosen) {
  const tags = Object.values(TAGS).filter((tag) => lessons.some((lesson) => tagOf(lesson) === tag));
  return h(
    'div',
    { 'class': 'segments tags', 'role': 'group', 'aria-label': t('lessons.tags') },
    ['', ...tags].map((tag) =>
      h(
        'button',
        {
          'type': 'button',
          'data-key': `tag-${tag}`,
          'aria-pressed': String(tag === chosen),
          'onclick': () => context.stage.choose('lessons', tag),
        },
        tag ? t(`lessons.tag.${tag}`) : t('lessons.all'),
      ),
    ),
  );
}

// Opens a lesson. If the scenario is the default or another lesson's, it becomes the lesson's at once, so that header,
// form and lesson agree.
/** @param {Context} context */
function begin(context, lessons, event, lesson) {
  event.preventDefault();
  const isOurs = Object.keys(context.inputs).length === 0 || lessons.some((one) => isSet(context, startOf(one)));
  if (isOurs) context.store.setInputs(startOf(lesson));
  context.open('lessons', lesson.id);
}

/** @param {Teaching} context */
function list(context, lessons, course) {
  const tag = context.stage.chosen('lessons') ?? '';
  const rows = (some) => some.filter((lesson) => !tag || tagOf(lesson) === tag).map((lesson) => item(context, lesson));
  const finished = lessons.filter(({ id }) => done(id)).length;
  const [general, studies] = [lessons.filter(({ study }) => !study), lessons.filter(({ study }) => study)];
  return [
    heading(t('lessons.title'), t('lessons.lead')),
    h('p', { class: 'note' }, t('lessons.progress', { finished, all: lessons.length })),
    tagButtons(context, lessons, tag),
    !tag && syllabus(context, course, done),
    h('ol', { class: 'lessons' }, rows(general)),
    rows(studies).length > 0 && [h('h2', {}, t('lessons.papers')), h('ol', { class: 'lessons' }, rows(studies))],
  ];
}

// The question, before any figure is revealed; what was right is said when the steps are done. The choice lives in the page until the lesson is left.
/** @param {Context} context */
function predict(context, lesson, state) {
  const { choice, acted } = state;
  const mark = (i) => {
    if (!acted) return '';
    if (i === lesson.predict.answer) return h('b', {}, ` ${t('lessons.right')}`);
    return i === choice ? ` ${t('lessons.wrong')}` : '';
  };
  return h(
    'fieldset',
    { class: 'predict' },
    h('legend', {}, t('lessons.predict')),
    lesson.predict.choices.map((words, i) =>
      h(
        'label',
        {},
        h('input', {
          'type': 'radio',
          'name': 'predict',
          'data-key': `choice-${i}`,
          'checked': choice === i,
          'onchange': () => {
            state.choice = i;
            context.open('lessons', `${lesson.id}/${Math.max(1, state.steps.size + 1)}`);
            context.stage.draw();
          },
        }),
        ' ',
        words,
        mark(i),
      ),
    ),
    state.revealed && h('p', { role: 'status' }, acted ? lesson.predict.why : t('lessons.noted')),
  );
}

// Whether the scenario is what these inputs would make it; some inputs state what holds anyway, and the link drops
// those.
const isSet = ({ core, inputs }, set) =>
  sayTheSame(core.described.defaults, { ...inputs, ...set }, inputs, core.presetPaths);

/** @param {Context} context */
function act(context, lesson, state) {
  return h(
    'ol',
    { class: 'steps' },
    lesson.steps.map((step, i) => {
      const finished = isSet(context, step.set);
      return h(
        'li',
        { class: state.steps.has(i) ? 'done' : undefined },
        step.say,
        ' ',
        step.set &&
          !finished &&
          h(
            'button',
            {
              'type': 'button',
              'class': 'link',
              'data-key': `step-${i}`,
              'onclick': () => context.store.setInputs({ ...context.inputs, ...step.set }, `${lesson.id}/${i + 2}`),
            },
            t('lessons.set'),
          ),
      );
    }),
  );
}

// The figures that the lesson is about: as the lesson began, and now.
/** @param {Context} context */
function watched(context, lesson) {
  const before = context.ask('evaluate', context.core.requestFor(startOf(lesson)), '');
  const now = context.report;
  if (!before || !now) return h('p', {}, t('chart.waiting'));
  const cell = (report, path) => h('td', {}, figure(get(report, path), unitOf(path)));
  return h(
    'table',
    { class: 'watched' },
    h('caption', {}, t('lessons.watched')),
    columnHeads([t('compare.figure'), t('lessons.before'), t('lessons.now'), t('compare.change')]),
    h(
      'tbody',
      {},
      lesson.watch.map((path) => {
        const [then, after] = [get(before, path), get(now, path)];
        const times = typeof then === 'number' && typeof after === 'number' && then > 0 ? after / then : undefined;
        const change = times > 0 ? (times < 1 ? `÷ ${number(1 / times)}` : `× ${number(times)}`) : '–';
        return h(
          'tr',
          {},
          h('th', { scope: 'row' }, nameOf(path)),
          cell(before, path),
          cell(now, path),
          h('td', {}, change),
        );
      }),
    ),
  );
}

/** @param {Context} context */
function explain(context, lesson) {
  const reports = Object.fromEntries(
    Object.entries(scenariosOf(lesson)).map(([letter, inputs]) => [
      letter,
      context.ask('evaluate', context.core.requestFor(inputs), ''),
    ]),
  );
  if (Object.values(reports).some((report) => !report)) return h('p', {}, t('chart.waiting'));
  return [
    h(
      'ul',
      { class: 'expect' },
      lesson.expect.map(({ say, expr }) => {
        const { left, right, holds } = check(expr, reports);
        return h(
          'li',
          { class: holds ? 'holds' : 'fails', title: `${expr} (${number(left, 6)}, ${number(right, 6)})` },
          `${holds ? '✓' : '✗'} ${say}`,
        );
      }),
    ),
    h('p', {}, h('b', {}, t('lessons.takeaway')), ' ', lesson.takeaway),
    lesson.sources?.length && h('p', { class: 'note' }, `${t('method.source')}: ${lesson.sources.join('; ')}`),
  ];
}

const states = new Map();

// Where the visitor is: the choice lives in the page; the link's "/1" after the lesson's id says that a choice was made, "/2" on that steps were done.
/** @param {Context} context */
function stateOf(context, lesson) {
  if (!states.has(lesson.id)) states.set(lesson.id, { steps: new Set() });
  const state = states.get(lesson.id);
  const reached = Number(context.store.sub.split('/')[1] ?? 0);
  state.revealed = state.choice !== undefined || reached >= 1;
  for (let i = 0; i < Math.min(reached - 1, lesson.steps.length); i++) state.steps.add(i);
  return state;
}

/** @param {Teaching} context */
function one(context, lessons, lesson) {
  const state = stateOf(context, lesson);
  const next = lessons[lessons.indexOf(lesson) + 1];
  const [scene, sub = ''] = lesson.scene.split('/');
  const started = isSet(context, startOf(lesson)) || state.steps.size > 0;
  // The last step may be done in the form as well as by its button.
  lesson.steps.forEach((step, i) => started && isSet(context, step.set) && state.steps.add(i));
  state.acted = state.revealed && state.steps.size === lesson.steps.length;
  const { revealed, acted } = state;
  if (acted) markDone(lesson.id);
  const go = (id) => (event) => (event.preventDefault(), context.open('lessons', id));
  const before = (lesson.needs ?? []).map((id) => lessons.find((other) => other.id === id)).filter(Boolean);
  return [
    h('p', { class: 'crumbs' }, h('a', { href: '#/lessons', onclick: go('') }, t('scene.lessons'))),
    heading(lesson.title, lesson.question),
    before.length > 0 &&
      h(
        'p',
        { class: 'crumbs' },
        t('lessons.needs'),
        ' ',
        before.map((other, i) => [
          i > 0 && ', ',
          h('a', { href: `#/lessons/${other.id}`, onclick: go(other.id) }, other.title),
        ]),
      ),
    h('div', { class: 'lesson' }, [
      predict(context, lesson, state),
      !started &&
        h(
          'p',
          {},
          h(
            'button',
            {
              'type': 'button',
              'class': 'primary',
              'data-key': 'lesson-start',
              'onclick': () => context.store.setInputs(startOf(lesson)),
            },
            t('lessons.start'),
          ),
        ),
      started && revealed && [h('h2', {}, t('lessons.act')), act(context, lesson, state), watched(context, lesson)],
      acted && [h('h2', {}, t('lessons.explain')), explain(context, lesson)],
      h(
        'p',
        { class: 'onward' },
        h(
          'a',
          { href: `#/${lesson.scene}`, onclick: (event) => (event.preventDefault(), context.open(scene, sub)) },
          t('lessons.full', { scene: t(`scene.${scene}`) }),
        ),
        lesson.study && [
          ' · ',
          h(
            'a',
            {
              href: `#/explore/studies/${lesson.study}`,
              onclick: (event) => (event.preventDefault(), context.open('explore', `studies/${lesson.study}`)),
            },
            t('lessons.study'),
          ),
        ],
        next && [
          ' · ',
          h(
            'a',
            { href: `#/lessons/${next.id}`, onclick: (event) => context.begin(event, next) },
            t('lessons.next', { title: next.title }),
          ),
        ],
      ),
    ]),
    started &&
      revealed &&
      h(
        'div',
        { class: 'stage' },
        context.stage
          .nodesOf(lesson.scene, context.ask('evaluate', context.core.requestFor(startOf(lesson)), ''))
          .slice(1),
      ),
  ];
}

export const lessons = {
  id: 'lessons',
  /** @param {Context} context */
  draw(context) {
    const all = context.files.at('lessons/index.json')?.map((id) => context.files.at(`lessons/${id}.json`));
    const order = context.files.at('lessons/course.json');
    if (!order || !all || all.some((one) => !one)) return [heading(t('lessons.title'), t('chart.waiting'))];
    const course = order.map((id) => all.find((one) => one.id === id));
    const teaching = { ...context, begin: (event, lesson) => begin(context, all, event, lesson) };
    if (context.store.sub === 'slides') return slides(context, course, (lesson) => explain(context, lesson));
    const lesson = all.find(({ id }) => id === context.store.sub.split('/')[0]);
    if (lesson) return one(teaching, all, lesson);
    return [context.store.sub && unknownPlace(context.store.sub), list(teaching, all, course)];
  },
};
