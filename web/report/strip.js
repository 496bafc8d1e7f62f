// On a phone the four answers scroll away with the page: then their figures stand in one line at the top. The line repeats what
// is said elsewhere, so it is not read out.
import { h } from '../dom.js';

export function strip(answers) {
  const line = h('div', { class: 'strip', 'aria-hidden': 'true', hidden: true });
  answers.after(line);
  // "317" and "days", without what follows the unit: "of 79.2 GiB", "per device".
  const short = (value) => {
    const unit = value.querySelector('small').textContent.split(/\s?\b(?:of|per)\s/)[0];
    return `${value.firstChild.textContent}${unit && `\u00a0${unit}`}`;
  };
  const draw = () => line.replaceChildren(...[...answers.querySelectorAll('.value')].map((value) => h('span', {}, short(value))));
  new MutationObserver(draw).observe(answers.querySelector('.four'), { childList: true });
  new IntersectionObserver(([{ isIntersecting }]) => (line.hidden = isIntersecting)).observe(answers);
  draw();
}
