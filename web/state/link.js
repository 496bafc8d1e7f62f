// The link: "#/SCENE/SUB?PATH=VALUE&…&v=2". Only inputs, only what differs from the default scenario, in a fixed order.
//
// `v` names the default scenario that the inputs are over. Links that say none were made when there was but the first; a link without
// any words, or with its release alone, is the newest. Inputs over another than the newest hold it as their "version".
// Further scenarios of a comparison have their letter before the path ("b:serving.batch=64"; "b:" alone is the default).
// Words without a letter or dot that concern the view: those of view.js and exercise.js, size (a sizing question) and explore (a panel's
// question). Long links are "z=" with everything deflated. "r=" is the release that made the link. Reading never throws: what cannot be read is named in `faults`.
import { isPath } from './paths.js';
import { NEWEST, versionOf, withVersion } from './scenario.js';

const FIRST = '1';
export const MAX_SCENARIOS = 4;
const LONG = 1200;
const MAX_TEXT = 4000;
const MAX_INFLATED = 65536;
const VIEW_WORDS = [
  ...['embed', 'show', 'hide', 'lock', 'ask', 'choices', 'hint', 'right', 'figure', 'vary', 'student'],
  ...['size', 'explore'],
];
const LETTERS = 'abcd';

// Half of a UTF-16 pair, which no URI can contain, becomes the replacement character.
const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, '\ufffd');
const encode = (text) =>
  encodeURIComponent(wellFormed(text))
    .replace(/%20/g, '+')
    .replace(/%(2F|24|2C|3A|5E)/g, decodeURIComponent);
const decode = (text) => decodeURIComponent(text.replace(/\+/g, ' '));

function query({ inputs, others = [], view = {} }) {
  const pathsOf = (some) =>
    Object.keys(some)
      .filter((path) => path !== 'version')
      .sort();
  const pairs = pathsOf(inputs).map((path) => `${path}=${encode(inputs[path])}`);
  others.forEach((other, i) => {
    const letter = LETTERS[i + 1];
    const own = versionOf(other) === versionOf(inputs) ? [] : [`${letter}:v=${versionOf(other)}`];
    const all = [...pathsOf(other).map((path) => `${letter}:${path}=${encode(other[path])}`), ...own];
    pairs.push(...(all.length ? all : [`${letter}:=`]));
  });
  for (const word of VIEW_WORDS) if (view[word]) pairs.push(`${word}=${encode(view[word])}`);
  return pairs.join('&');
}

const route = ({ scene, sub }) => `#/${scene}${sub ? `/${encode(sub)}` : ''}`;

const madeBy = ({ release }) => (release ? `&r=${release}` : '');

// The readable link; the default state of a scene has no query.
export function write(state) {
  const text = query(state);
  const version = versionOf(state.inputs);
  return text || version !== NEWEST
    ? `${route(state)}?${text}${text && '&'}v=${version}${madeBy(state)}`
    : route(state);
}

// The readable link, or the compressed one where that is long.
export async function writeShort(state) {
  const link = write(state);
  if (link.length <= LONG || typeof CompressionStream === 'undefined') return link;
  const stream = new Blob([query(state)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return `${route(state)}?z=${toBase64(bytes)}&v=${versionOf(state.inputs)}${madeBy(state)}`;
}

const toBase64 = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  let size = 0;
  const chunks = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_INFLATED) throw new Error('too long');
    chunks.push(value);
  }
  return new Blob(chunks).text();
}

const isVersion = (text) =>
  Number.isInteger(Number(text)) && Number(text) >= Number(FIRST) && Number(text) <= Number(NEWEST);

function readPairs(text, state) {
  for (const pair of text.split('&').filter(Boolean).slice(0, 400)) {
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals);
    let value;
    try {
      value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    } catch {
      state.faults.push({ path: key.slice(0, 80), kind: 'unreadable' });
      continue;
    }
    const other = /^([b-d]):(.*)$/.exec(key);
    const path = other ? other[2] : key;
    let target = state.inputs;
    if (other) target = state.others[LETTERS.indexOf(other[1]) - 1] ??= {};
    if (other && path === '') continue;
    if (path === 'v') {
      if (isVersion(value)) target.version = value;
      else state.faults.push({ path: 'v', kind: 'version' });
    } else if (path === 'r') {
      if (/^[\w.-]{1,20}$/.test(value)) state.release = value;
    } else if (VIEW_WORDS.includes(key)) {
      state.view[key] = value.slice(0, 2000);
    } else if (
      !isPath(path) ||
      (!path.includes('.') && !['model', 'cluster', 'training', 'serving', 'cost'].includes(path))
    ) {
      state.faults.push({ path: path.slice(0, 80), kind: 'unknown' });
    } else if (value.length > MAX_TEXT) {
      state.faults.push({ path, kind: 'long' });
    } else {
      target[path] = value;
    }
  }
}

// The state that a hash means; scenes not in `scenes` become the first, which is also called start, as its tab is.
export async function read(hash, scenes) {
  const state = { scene: scenes[0], sub: '', inputs: {}, others: [], view: {}, faults: [] };
  const text = wellFormed(String(hash).replace(/\s/g, '').slice(0, 20000));
  const [path, ...rest] = text.replace(/^#?\/?/, '').split('?');
  const [scene, ...sub] = path.split('/');
  if (scenes.includes(scene)) state.scene = scene;
  else if (scene && scene !== 'start') state.faults.push({ path: scene.slice(0, 80), kind: 'scene' });
  try {
    state.sub = decode(sub.join('/')).slice(0, 80);
  } catch {
    state.faults.push({ path: scene.slice(0, 80), kind: 'unreadable' });
  }
  const words = rest.join('?');
  const packed = /(?:^|&)z=([\w-]*)/.exec(words);
  readPairs(words.replace(/(^|&)z=[^&]*/, ''), state);
  if (packed) {
    try {
      readPairs(await inflate(packed[1]), state);
    } catch {
      state.faults.push({ path: 'z', kind: 'packed' });
    }
  }
  const saysNothing = words.replace(/(^|&)r=[^&]*/, '') === '';
  const version = state.inputs.version ?? (saysNothing ? NEWEST : FIRST);
  state.inputs = withVersion(state.inputs, version);
  state.others = Array.from(state.others, (one) => withVersion(one ?? {}, one?.version ?? version));
  return state;
}
