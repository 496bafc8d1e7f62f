// A pasted text as commands of words, as a POSIX shell reads it: continued lines joined, comments, quotes, redirections and here-documents taken
// away, variables that it sets filled in. Beyond the shell, a line that begins with a flag goes on with the command before it, as in YAML.
import { arithmetic } from './arithmetic.js';

const HERE = /<<-?[ \t]*(['"]?)(\w+)\1([^\n]*)\n(?:[^]*?\n)?[ \t]*\2(?=\s|$)/g;
const SET = /^([A-Za-z_]\w*)(\+?)=([^]*)$/;
const KEYS = ['command:', 'args:', 'entrypoint:']; // of Docker's and Kubernetes' YAML, behind which a command stands
const GOES_ON = new RegExp(`\\s*(?:#[^\\n]*\\n\\s*)*(?:[-–—]|${KEYS.join('|')})`, 'y');
const CONTINUED = /[ \t]*(?:\r?\n|\r)/y;
const PLACEHOLDER = /<[\w .-]+>/y;
const NAMED = /\$(?:\{([A-Za-z_]\w*)(?:\[[@*]\])?(?::?-([^{}]*))?\}|([A-Za-z_]\w*))/y;
const CALCULATED = /\$\(\(((?:[^()]|\([^()]*\))*)\)\)/y;
const CALLED = /\$\((?:[^()]|\([^()]*\))*\)/y; // a program whose answer nobody knows
const MOST = 1e5; // letters that variables fill in

const at = (pattern, text, i) => {
  pattern.lastIndex = i;
  return pattern.exec(text);
};

// Characters that no shell has in this place: typographic dashes, and marks of lists and of other shells' continued
// lines.
const typed = (word) => word.replace(/^[–—]/, '--');
const isMark = (word) => /^[-^`\s]*$/.test(word) || KEYS.includes(word);

/** @returns {string[][]} */
export function commandsOf(pasted) {
  const text = pasted.replace(HERE, '$3');
  const variables = new Map(); // name -> its text, or words of a list
  const commands = [];
  let command = [];
  let list = null; // of a variable in parentheses: {name, words}
  let word = null;
  let quote = null;
  let isTarget = false; // of a redirection
  let filled = 0;

  function endWord() {
    if (word !== null && !isTarget && !isMark(word)) (list ? list.words : command).push(typed(word));
    if (word !== null) isTarget = false;
    word = null;
  }
  function set(name, isMore, value) {
    const before = isMore ? (variables.get(name) ?? (list ? [] : '')) : list ? [] : '';
    variables.set(name, typeof before === 'string' ? `${before}${value}` : [...before, value].flat());
  }
  function endCommand() {
    endWord();
    const first = command.findIndex((one) => !['export', 'declare', 'local', 'env'].includes(one));
    const rest = command.findIndex((one, i) => i >= first && !SET.test(one));
    for (const one of command.slice(Math.max(first, 0), rest < 0 ? undefined : rest)) {
      const [, name, more, value] = SET.exec(one) ?? [];
      if (name) set(name, more, value);
    }
    if (rest >= 0) commands.push(command);
    command = [];
  }
  // A variable at this position: unquoted text is split into words, and its first word continues the present one.
  function fill(value, written) {
    filled += `${value}`.length;
    const words = typeof value !== 'string' ? value : quote ? [value] : value.split(/\\?\s+/).filter(Boolean);
    (filled > MOST ? [written] : words).forEach((piece, i) => {
      if (i > 0) endWord();
      word = (word ?? '') + piece;
    });
  }
  // The length of a variable, a sum or a call at this position.
  function expand(i) {
    const [sum, inner] = at(CALCULATED, text, i) ?? [];
    if (sum) {
      const value = arithmetic(inner, (name) => variables.get(name));
      fill(value === undefined ? sum : `${value}`, sum);
      return sum.length;
    }
    const [called] = at(CALLED, text, i) ?? [];
    const [named, braced, otherwise, bare] = at(NAMED, text, i) ?? [];
    const written = called ?? named ?? '$';
    const value =
      variables.get(braced ?? bare) ?? (otherwise === undefined ? undefined : otherwise.replace(/["']/g, ''));
    if (value !== undefined) fill(value, written);
    else word = (word ?? '') + written;
    return written.length;
  }

  for (let i = 0; i < text.length; ++i) {
    const letter = text[i];
    const isBehindQuote = /["']/.test(text[i - 1] ?? '');
    if (quote && letter === quote) {
      quote = null;
    } else if (letter === '\\' && quote !== "'") {
      const line = at(CONTINUED, text, i + 1);
      if (line) i += line[0].length;
      else word = (word ?? '') + (text[++i] ?? '');
    } else if (letter === '$' && quote !== "'") {
      i += expand(i) - 1;
    } else if (quote) {
      word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (letter === '#' && word === null) {
      while (i + 1 < text.length && text[i + 1] !== '\n') ++i;
    } else if (letter === '(' && SET.exec(word ?? '')?.[3] === '') {
      const [, name, more] = SET.exec(word);
      list = { name, more, words: [] };
      word = null;
    } else if (letter === ')' && list) {
      endWord();
      set(list.name, list.more, list.words);
      list = null;
    } else if (letter === '<' && at(PLACEHOLDER, text, i)) {
      const [placeholder] = at(PLACEHOLDER, text, i);
      word = (word ?? '') + placeholder;
      i += placeholder.length - 1;
    } else if (/[<>]/.test(letter) || (letter === '&' && text[i + 1] === '>')) {
      if (/^\d+$/.test(word ?? '')) word = null;
      endWord();
      while (/[<>&|]/.test(text[i + 1] ?? '')) ++i;
      isTarget = true;
    } else if (/[;&|]/.test(letter) && !list) {
      endCommand();
    } else if (letter === '\n' && !list && !at(GOES_ON, text, i + 1)) {
      endCommand();
    } else if (/\s/.test(letter) || (/[\],]/.test(letter) && isBehindQuote)) {
      endWord();
    } else if (letter !== '[' || word !== null || !/\s*["']/y.test(text.slice(i + 1, i + 80))) {
      word = (word ?? '') + letter;
    }
  }
  endCommand();
  return commands;
}

// A value as one word of a shell.
export const quoted = (value) =>
  /^[\w@%+=:,./-]+$/.test(`${value}`) ? `${value}` : `'${`${value}`.replaceAll("'", "'\\''")}'`;
