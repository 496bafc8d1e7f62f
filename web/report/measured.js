// The measurement, shown under the answers; the menu asks for it.
import { h, redraw } from '../dom.js';
import { withoutMeasured } from '../state/measured.js';
import { text, unitOf } from '../text/format.js';
import { t } from '../text/strings.js';
import { nameOf } from './names.js';

// `measured`: the measurement of the reported scenario.
export function showMeasured(element, { scenario: { measured = [] }, store }) {
  if (store.isLocked('measured')) return element.replaceChildren();
  const mine = measured.map(({ path, value }) => {
    const words = t('measured.value', { figure: nameOf(path), value: text(value, unitOf(path)) });
    const label = t('measured.remove', { words });
    const remove = () => store.setInputs(withoutMeasured(store.inputs, path));
    return h(
      'span',
      {},
      words,
      h(
        'button',
        {
          'type': 'button',
          'class': 'link',
          'data-key': `unmeasure-${path}`,
          'aria-label': label,
          'title': label,
          'onclick': remove,
        },
        '×',
      ),
    );
  });
  redraw(element, mine);
}
