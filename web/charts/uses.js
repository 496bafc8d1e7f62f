// What each group of ranks sends, under the drawing of a cluster. Pointing at a row lights the first such group and the wires that it
// loads; a press keeps it lit.
import { h } from '../dom.js';
import { text as format, whole } from '../text/format.js';
import { has } from '../text/strings.js';
import { levelsAmong, membersOf } from './groups.js';
import { t } from './texts.js';

const pressed = new Map(); // by drawing: the row that stays lit

const named = (kind, id) => (has(`${kind}.${id}`) ? t(`${kind}.${id}`) : id.replaceAll('_', ' '));
const keyOf = ({ group, pattern }) => `${group}-${pattern}`;

// Lights these devices and the wires between them on these levels; a wire without ends is a bar shared by all nodes.
function lightUp(figure, members, levels) {
  const isIn = (rank) => members.has(Number(rank));
  figure.classList.toggle('pointing', members.size > 0);
  for (const device of figure.querySelectorAll('[data-rank]'))
    device.classList.toggle('lit', isIn(device.dataset.rank));
  for (const wire of figure.querySelectorAll('.wire')) {
    const isInside = wire.dataset.level === '0';
    const ends = wire.dataset.ends ? wire.dataset.ends.split(' ').map(Number) : [];
    const isBar = wire.matches('.bar, .outer');
    const joins = isBar
      ? ends.length === 0 || [...members].some((rank) => rank >= ends[0] && rank <= ends[1])
      : ends.every(isIn);
    const isUsed = isInside ? levels.includes(0) : levels.some((level) => level > 0);
    wire.classList.toggle('lit', isUsed && joins);
  }
}

// `uses` are the report's collectives, `experts` how many ranks hold all of them, `figure` the drawing.
export function usesList({ id, uses, networks, degrees, experts, figure }) {
  const of = new Map(
    uses.map((use) => {
      const members = membersOf(use, degrees, experts);
      return [use, { members: new Set(members), levels: levelsAmong(members, networks) }];
    }),
  );
  const light = (use) => lightUp(figure, of.get(use)?.members ?? new Set(), of.get(use)?.levels ?? []);
  const rest = () => light(uses.find((use) => keyOf(use) === pressed.get(id)));
  const row = (use) => {
    const over = of
      .get(use)
      .levels.map((level) => networks[level].name)
      .join(', ');
    const press = () => {
      pressed.set(id, pressed.get(id) === keyOf(use) ? '' : keyOf(use));
      for (const one of list.querySelectorAll('button'))
        one.setAttribute('aria-pressed', String(one.dataset.key === `${id}-${pressed.get(id)}`));
      rest();
    };
    return h(
      'button',
      {
        'type': 'button',
        'data-key': `${id}-${keyOf(use)}`,
        'aria-pressed': String(pressed.get(id) === keyOf(use)),
        'onclick': press,
        'onpointerenter': () => light(use),
        'onpointerleave': rest,
        'onfocus': () => light(use),
        'onblur': rest,
      },
      h('span', { class: 'who' }, h('b', {}, named('ranks', use.group)), ` ${named('pattern', use.pattern)}`),
      h(
        'span',
        { class: 'how' },
        t(over ? 'uses.over' : 'uses.how', {
          algorithm: named('algorithm', use.algorithm),
          ranks: whole(use.ranks),
          over,
        }),
      ),
      h('span', { class: 'num' }, format(use.bytes, 'B')),
      h('span', { class: 'num' }, format(use.time_s, 's')),
    );
  };
  const list = h(
    'ul',
    {},
    uses.map((use) => h('li', {}, row(use))),
  );
  rest();
  return h(
    'div',
    { class: 'uses' },
    h(
      'p',
      { class: 'head' },
      h('b', {}, t('uses.title')),
      h('span', { class: 'num' }, t('uses.bytes')),
      h('span', { class: 'num' }, t('uses.time')),
    ),
    list,
  );
}
