// Controls that the first view does not need, one press away: scenes that other parts of the page link to, and actions
// on the page.
import { h } from '../dom.js';
import { t } from '../text/strings.js';

const GAP = 6; // px between the menu and what opens it

// `actions`: [{id, name, run, stays, isOff}], `stays` where the menu stays open, `isOff()` whether the link locks what it would change.
// -> {nodes: what opens it and the menu, scenes: where links to scenes stand, button(id)}
export function pageMenu(actions) {
  const scenes = h('nav', { 'class': 'more-scenes', 'id': 'more-scenes', 'aria-label': t('menu.scenes') });
  const buttons = new Map(
    actions.map(({ id, name, run, stays }) => [
      id,
      h(
        'button',
        {
          type: 'button',
          id,
          onclick: () => {
            if (!stays) menu.hidePopover();
            run();
          },
        },
        name,
      ),
    ]),
  );
  const menu = h('div', { class: 'page-menu', id: 'menu', popover: 'auto' }, scenes, [...buttons.values()]);
  const opener = h('button', { type: 'button', id: 'more', popovertarget: 'menu' }, t('menu.title'));
  scenes.addEventListener('click', () => menu.hidePopover());
  menu.addEventListener('beforetoggle', () => {
    for (const { id, isOff } of actions) buttons.get(id).hidden = Boolean(isOff?.());
  });
  menu.addEventListener('toggle', () => {
    const { bottom, right } = opener.getBoundingClientRect();
    menu.style.setProperty('top', `${bottom + GAP}px`);
    menu.style.setProperty('left', `${right - menu.offsetWidth}px`);
  });
  return { nodes: [opener, menu], scenes, button: (id) => buttons.get(id) };
}
