// A report path in words.
import { has, t } from '../text/strings.js';

export function nameOf(path) {
  const member = path.split('.').at(-1);
  if (has(`name.${path}`)) return t(`name.${path}`);
  return has(`name.${member}`) ? t(`name.${member}`) : member.replace(/_(s|usd|j|bytes)$/, '').replaceAll('_', ' ');
}
