// A study's prose names inputs as links do ("cluster.collectives.library alpha_beta"): here as the form calls them.
import { has, t } from '../text/strings.js';

const PATH = /\b[a-z_]+(?:\.[a-z_]+)+\b/g;

export function inputsNamed(words, inputs) {
  let choices = [];
  const named = words.replace(PATH, (path) => {
    const input = inputs.find((one) => one.path === path);
    if (!input?.label) return path;
    choices = [
      ...choices,
      ...(input.choices ?? [])
        .filter((id) => id.includes('_'))
        .map((id) => [id, `choice.${path.split('.').at(-1)}.${id}`]),
    ];
    return `“${input.label}”`;
  });
  return choices.filter(([, key]) => has(key)).reduce((text, [id, key]) => text.replaceAll(id, t(key)), named);
}
