import { h } from '../dom.js';
import { check, scenariosOf } from '../lessons/expect.js';
import { done, markDone } from '../lessons/progress.js';
import '../text/later.js';
import { sayTheSame } from '../state/scenario.js';
import { t } from '../text/strings.js';
import { number } from '../text/format.js';
import { heading } from './parts.js';

const item = (context, lesson) =>
  h(
    'li',
    { class: done(lesson.id) ? 'done' : undefined },
    h(
      'a',
      {
        href: `#/lessons/${lesson.id}`,
        'data-key': `lesson-${lesson.id}`,
        onclick: (event) => (event.preventDefault(), context.open('lessons', lesson.id)),
      },
      lesson.title,
    ),
    h('small', {}, ` ${t('lessons.minutes', { minutes: lesson.minutes })}${done(lesson.id) ? ` · ${t('lessons.done')}` : ''}`),
    h('p', {}, lesson.question),
  );

function list(context, lessons) {
  const finished = lessons.filter(({ id }) => done(id)).length;
  const [general, studies] = [lessons.filter(({ study }) => !study), lessons.filter(({ study }) => study)];
  return [
    heading(t('lessons.title'), t('lessons.lead')),
    h('p', { class: 'note' }, t('lessons.progress', { finished, all: lessons.length })),
    h('ol', { class: 'lessons' }, general.map((lesson) => item(context, lesson))),
    h('h2', {}, t('lessons.papers')),
    h('ol', { class: 'lessons', start: general.length + 1 }, studies.map((lesson) => item(context, lesson))),
  ];
}

// The question, before any figure is revealed. The choice lives in the page until the lesson is left.
function predict(context, lesson, state) {
  const chosen = state.choice ?? (state.revealed ? lesson.predict.answer : undefined);
  return h(
    'fieldset',
    { class: 'predict' },
    h('legend', {}, t('lessons.predict')),
    lesson.predict.choices.map((choice, i) =>
      h(
        'label',
        {},
        h('input', {
          type: 'radio',
          name: 'predict',
          'data-key': `choice-${i}`,
          checked: chosen === i,
          onchange: () => {
            state.choice = i;
            context.open('lessons', `${lesson.id}/1`);
            context.page.drawScene();
          },
        }),
        ' ',
        choice,
        chosen !== undefined && i === lesson.predict.answer
          ? h('b', {}, ` ${t('lessons.right')}`)
          : chosen === i
            ? ` ${t('lessons.wrong')}`
            : '',
      ),
    ),
    chosen !== undefined && h('p', { role: 'status' }, lesson.predict.why),
  );
}

// Whether the scenario is as these inputs would make it; some say what holds anyway, and the link does not keep those.
const isSet = ({ page, inputs }, set) => sayTheSame(page.described.default, { ...inputs, ...set }, inputs, page.presetPaths);

function act(context, lesson, state) {
  return h(
    'ol',
    { class: 'steps' },
    lesson.steps.map((step, i) => {
      const finished = isSet(context, step.set);
      if (finished) state.steps.add(i);
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
              type: 'button',
              class: 'link',
              'data-key': `step-${i}`,
              onclick: () => context.store.setInputs({ ...context.inputs, ...step.set }, `${lesson.id}/${i + 2}`),
            },
            t('lessons.set'),
          ),
      );
    }),
  );
}

function explain(context, lesson) {
  const reports = Object.fromEntries(
    Object.entries(scenariosOf(lesson)).map(([letter, inputs]) => [letter, context.ask('evaluate', context.page.requestFor(inputs), '')]),
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
          { class: holds ? 'holds' : 'fails' },
          `${holds ? '✓' : '✗'} ${say} `,
          h('small', {}, h('code', {}, expr), ` (${number(left)}, ${number(right)})`),
        );
      }),
    ),
    h('p', {}, h('b', {}, t('lessons.takeaway')), ' ', lesson.takeaway),
    lesson.sources?.length && h('p', { class: 'note' }, `${t('why.source')}: ${lesson.sources.join('; ')}`),
  ];
}

const states = new Map();

// Where the visitor is: the choice lives in the page; the link's "/1" after the lesson's id says that a choice was made, "/2" on that steps were done.
function stateOf(context, lesson) {
  if (!states.has(lesson.id)) states.set(lesson.id, { steps: new Set() });
  const state = states.get(lesson.id);
  const reached = Number(context.store.sub.split('/')[1] ?? 0);
  state.revealed = state.choice !== undefined || reached >= 1;
  for (let i = 0; i < Math.min(reached - 1, lesson.steps.length); i++) state.steps.add(i);
  return state;
}

function one(context, lessons, lesson) {
  const state = stateOf(context, lesson);
  const next = lessons[lessons.indexOf(lesson) + 1];
  const [scene, sub = ''] = lesson.scene.split('/');
  const started = isSet(context, lesson.start) || state.steps.size > 0;
  const { revealed } = state;
  if (revealed && state.steps.size === lesson.steps.length) markDone(lesson.id);
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
        before.map((other, i) => [i > 0 && ', ', h('a', { href: `#/lessons/${other.id}`, onclick: go(other.id) }, other.title)]),
      ),
    h('div', { class: 'lesson' }, [
      predict(context, lesson, state),
      !started &&
        h(
          'p',
          {},
          h(
            'button',
            { type: 'button', class: 'primary', 'data-key': 'lesson-start', onclick: () => context.store.setInputs({ ...lesson.start }) },
            t('lessons.start'),
          ),
        ),
      started && revealed && [h('h2', {}, t('lessons.act')), act(context, lesson, state)],
      revealed && [h('h2', {}, t('lessons.explain')), explain(context, lesson)],
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
        next && [' · ', h('a', { href: `#/lessons/${next.id}`, onclick: go(next.id) }, t('lessons.next', { title: next.title }))],
      ),
    ]),
    started && revealed && h('div', { class: 'stage' }, context.page.nodesOf(lesson.scene).slice(1)),
  ];
}

export const lessons = {
  id: 'lessons',
  draw(context) {
    const all = context.page.data('lessons/index.json')?.map((id) => context.page.data(`lessons/${id}.json`));
    if (!all || all.some((one) => !one)) return [heading(t('lessons.title'), t('chart.waiting'))];
    const lesson = all.find(({ id }) => id === context.store.sub.split('/')[0]);
    return lesson ? one(context, all, lesson) : list(context, all);
  },
};
