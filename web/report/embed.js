// In a frame of another page: sends it the page's height, and offers the whole page.
import { h } from '../dom.js';
import { t } from '../text/strings.js';

export function embed(footer, fullLink) {
  const link = h('a', { target: '_blank', rel: 'noopener', id: 'open-full' }, t('embed.full'));
  const follow = async () => (link.href = await fullLink());
  footer.replaceChildren(h('p', {}, 'Slipstick · ', link));
  for (const event of ['pointerenter', 'focus']) link.addEventListener(event, follow);
  follow();
  let told = 0;
  const tell = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height !== told) window.parent.postMessage({ slipstick: { height } }, '*');
    told = height;
  };
  new ResizeObserver(tell).observe(document.body);
  return follow;
}
