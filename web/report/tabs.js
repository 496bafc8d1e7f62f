// The tabs of the scenes: links, so that they open elsewhere too. Where they do not all fit, the chosen one is brought into view.
import { h, redraw } from '../dom.js';
import { t } from '../text/strings.js';

export function drawTabs(element, { scenes, chosen, onopen }) {
  const query = location.hash.split('?')[1];
  redraw(
    element,
    scenes.map((id) =>
      h(
        'a',
        {
          href: `#/${id}${query ? `?${query}` : ''}`,
          'data-scene': id,
          'data-key': `tab-${id}`,
          'aria-current': id === chosen ? 'page' : undefined,
          onclick: onopen,
        },
        t(`scene.${id}`),
      ),
    ),
  );
  if (element.dataset.chosen === chosen) return;
  element.dataset.chosen = chosen;
  requestAnimationFrame(() => {
    const [row, tab] = [element, element.querySelector('[aria-current]')].map((one) => one.getBoundingClientRect());
    element.scrollLeft += tab.left + tab.width / 2 - (row.left + row.width / 2);
  });
}
