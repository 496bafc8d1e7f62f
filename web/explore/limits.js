// The limits of a search: figures and members of the mapping that are to stay below, above or among values.
/** @import {Context} from '../types.js' */
import { h } from '../dom.js';
import { inUnit } from '../text/measure.js';
import {
  boundIn,
  button,
  fillSelect,
  isNumeric,
  joined,
  labelled,
  objectiveName,
  plainBound,
  presentOf,
  select,
  textBox,
} from './controls.js';
import { memberLabel } from './sweep_values.js';
import { t } from './texts.js';

const SIGNS = { '<=': '≤', '>=': '≥', '=': ':' };

export class Limits {
  #all = []; // {text: as the core reads it, name}
  #of = null;
  #offered = [];
  #context;
  #onchange;
  #on = select([], '');
  #how = select(
    [
      { value: '<=', name: t('explore.atMost') },
      { value: '>=', name: t('explore.atLeast') },
      { value: '=', name: t('explore.among') },
    ],
    '<=',
  );
  #fault = h('p', { class: 'bad', role: 'status' });
  #value = textBox('', { inputmode: 'decimal', onkeydown: (event) => event.key === 'Enter' && this.#add() });

  // `onchange` is called when a limit is added or removed.
  /** @param {{context: () => Context, onchange: () => void}} options */
  constructor({ context, onchange }) {
    this.#context = context;
    this.#onchange = onchange;
    this.#on.addEventListener('change', () => this.#suggest());
    this.list = h('ul', { 'class': 'ex-limits', 'aria-label': t('explore.limits') });
    this.box = h(
      'details',
      { 'class': 'ex-box', 'data-key': 'ex-limits' },
      h('summary', {}, t('explore.limits')),
      h(
        'div',
        { class: 'ex-form' },
        labelled(t('explore.limit.what'), this.#on),
        labelled(t('explore.limit.how'), this.#how),
        labelled(t('explore.limit.value'), this.#value),
        button(t('explore.limit.add'), () => this.#add(), { 'class': 'ex-plain', 'data-key': 'ex-add' }),
      ),
      this.#fault,
    );
  }

  get texts() {
    return this.#all.map(({ text: one }) => one);
  }

  // Resets for a part's search: `members` of its mapping, and the `offered` figures.
  /** @param {{of: string, members: string[], offered: {name: string}[]}} what */
  offer({ of, members, offered }) {
    this.#of = of;
    this.#offered = offered;
    this.#all = [];
    fillSelect(
      this.#on,
      [
        { name: t('explore.members'), options: members.map((path) => ({ value: path, name: memberLabel(path) })) },
        {
          name: t('explore.figures'),
          options: offered.map(({ name }) => ({ value: `${of}.${name}`, name: objectiveName(of, name) })),
        },
      ],
      '',
    );
    this.#suggest();
    this.#draw();
  }

  take(path, how, value) {
    const isFigure =
      path.startsWith(`${this.#of}.`) && this.#offered.some(({ name }) => `${this.#of}.${name}` === path);
    const name = isFigure ? objectiveName(this.#of, path.slice(this.#of.length + 1)) : memberLabel(path);
    this.#all.push({ text: `${path}${how}${value}`, name: `${name} ${SIGNS[how]} ${value.replaceAll(',', ', ')}` });
    this.#draw();
  }

  // Members that are words are chosen from a list.
  #suggest() {
    const path = this.#on.value;
    const input = this.#context().core.described.inputs.find((one) => one.path === path);
    const words = input && !isNumeric(input);
    this.#how.value = words ? '=' : this.#how.value === '=' ? '<=' : this.#how.value;
    // For a figure, shows its present value; a bare number is in the value's unit.
    this.#value.placeholder = words
      ? (input.choices ?? (input.kind === 'flag' ? ['true', 'false'] : [])).join(', ')
      : joined(this.#present());
    this.#say('');
  }

  #present = () => presentOf(this.#context().report, this.#on.value);

  #say(fault) {
    this.#fault.textContent = fault;
    this.#value.setAttribute('aria-invalid', String(fault !== ''));
  }

  #add() {
    const typed = this.#value;
    const list = this.#how.value === '=';
    const value = list
      ? typed.value
          .split(/[\s,;]+/)
          .filter(Boolean)
          .join(',')
      : plainBound(inUnit(typed.value.trim(), this.#present().unit));
    const isWrong = list ? value === '' : boundIn(value) === undefined;
    this.#say(isWrong ? t('explore.bound.wrong', { example: typed.placeholder.split(',')[0] || '1' }) : '');
    if (isWrong) {
      typed.focus();
      return;
    }
    this.take(this.#on.value, this.#how.value, value);
    typed.value = '';
    this.#onchange();
  }

  #draw() {
    const remove = (one) => {
      this.#all = this.#all.filter((each) => each !== one);
      this.#draw();
      this.#onchange();
    };
    this.list.replaceChildren(
      ...this.#all.map((one) =>
        h(
          'li',
          {},
          one.name,
          button('×', () => remove(one), {
            'class': 'close',
            'aria-label': t('explore.limit.remove', { text: one.name }),
          }),
        ),
      ),
    );
    this.list.hidden = this.#all.length === 0;
  }
}
