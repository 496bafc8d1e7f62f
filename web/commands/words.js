// A pasted command as words: continuation lines joined, comments and quotes taken away, as a POSIX shell would.
export function wordsOf(text) {
  const words = [];
  let word = null;
  let quote = null;
  for (let i = 0; i < text.length; ++i) {
    const letter = text[i];
    if (quote) {
      if (letter === quote) quote = null;
      else if (letter === '\\' && quote === '"') word += text[++i] ?? '';
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (letter === '\\') {
      const next = text[++i];
      if (next === '\r' && text[i + 1] === '\n') ++i;
      if (next !== '\n' && next !== '\r' && next !== undefined) word = (word ?? '') + next;
    } else if (letter === '#' && word === null) {
      while (i + 1 < text.length && text[i + 1] !== '\n') ++i;
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

// A value as one word of a shell.
export const quoted = (value) =>
  /^[\w@%+=:,./-]+$/.test(`${value}`) ? `${value}` : `'${`${value}`.replaceAll("'", "'\\''")}'`;
