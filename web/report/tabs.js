// The tabs of the scenes: links, so that they can be opened elsewhere. If not all fit, the chosen one is scrolled into
// view, and a fading edge shows that there are more.
import { h, redraw } from '../dom.js';
import { t } from '../text/strings.js';

function sayMore(element) {
  const { scrollLeft, clientWidth, scrollWidth } = element;
  element.classList.toggle('more-left', scrollLeft > 1);
  element.classList.toggle('more-right', scrollLeft + clientWidth < scrollWidth - 1);
}

function watch(element) {
  const say = () => sayMore(element);
  element.addEventListener('scroll', say, { passive: true });
  new ResizeObserver(say).observe(element);
}

// Links to scenes, with the inputs as they are.
export function drawLinks(element, { scenes, chosen, onopen }) {
  const query = location.hash.split('?')[1];
  redraw(
    element,
    scenes.map((id) =>
      h(
        'a',
        {
          'href': `#/${id}${query ? `?${query}` : ''}`,
          'data-scene': id,
          'data-key': `tab-${id}`,
          'aria-current': id === chosen ? 'page' : undefined,
          'onclick': onopen,
        },
        t(`scene.${id}`),
      ),
    ),
  );
}

export function drawTabs(element, { scenes, chosen, onopen }) {
  drawLinks(element, { scenes, chosen, onopen });
  if (element.dataset.chosen === chosen) return;
  if (!element.dataset.chosen) watch(element);
  element.dataset.chosen = chosen;
  requestAnimationFrame(() => {
    const [row, tab] = [element, element.querySelector('[aria-current]')].map((one) => one.getBoundingClientRect());
    element.scrollLeft += tab.left + tab.width / 2 - (row.left + row.width / 2);
  });
}
