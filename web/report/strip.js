// On a phone the four answers scroll away with the page: then their figures stand in one line at the top. The line repeats what
// is said elsewhere, so it is not read out.
import { h } from '../dom.js';

export function strip(answers) {
  const line = h('div', { class: 'strip', 'aria-hidden': 'true', hidden: true });
  answers.after(line);
  const draw = () =>
    line.replaceChildren(...[...answers.querySelectorAll('.value')].map((value) => h('span', {}, value.textContent.replace(/ of .*| a device/, ''))));
  new MutationObserver(draw).observe(answers.querySelector('.four'), { childList: true });
  new IntersectionObserver(([{ isIntersecting }]) => (line.hidden = isIntersecting)).observe(answers);
  draw();
}
