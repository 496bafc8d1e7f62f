// The built site behind a small server and a Chromium that opens it; collects errors of the page.
import { readFileSync } from 'node:fs';
import { after, afterEach, before } from 'node:test';
import { chromium } from 'playwright-core';
import { serveSite, SITE } from '../support/site_server.js';

export { timed } from '../support/timed.js';
export { SITE } from '../support/site_server.js';

// The newest version that links may have.
export const NEWEST = Math.max(
  ...Object.keys(JSON.parse(readFileSync(`${SITE}data/first_view.json`, 'utf8')).described.defaults).map(Number),
);

export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
// V8 optimizes the module's functions only after four times the usual work: that pays in a long search, but not in a
// page that a test soon leaves. Speed tests run with the default.
const QUICK = [...FLAGS, '--js-flags=--wasm-tiering-budget=50000000'];

// The headless shell has only the engine: the whole browser takes three times as long to start and is slower on every
// page.
export const launch = (flags = QUICK) =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: flags });

// An error or a warning on the console, with the address of a resource that did not load. For a picture, the page
// between two tests, the browser requests a /favicon.ico that no site has.
const isFault = (message) =>
  ['error', 'warning'].includes(message.type()) && !message.location().url.endsWith('/favicon.ico');
const textOf = (message) =>
  message.text().startsWith('Failed to load') ? `${message.text()}: ${message.location().url}` : message.text();

// How long a test may wait, in ms: a busy machine takes ten times as long as an idle one.
const PATIENCE = 180_000;

// The site in Chromium, for the tests of a file: {base, open(hash, options) -> {page, context, faults, done()},
// lasting() -> page}. Tests reuse a page, since a new one takes three times as long to open. A test with context
// options, `prepare(page)` before the page is fetched, or `fresh: true` has its own context.
export function site({ flags = QUICK, compressed = false } = {}) {
  let server;
  let browser;
  let started;
  const idle = [];
  const inUse = new Set();
  // A file's own `before` may run first.
  const start = () =>
    (started ??= (async () => {
      // A context caches files for its next page; checking each file again would be a quarter of the work.
      server = await serveSite({ headers: { 'cache-control': 'max-age=3600' }, compressed });
      tests.base = `http://127.0.0.1:${server.address().port}/`;
      browser = await launch(flags);
    })());
  const tests = {
    base: undefined,
    async open(
      hash = '',
      { width = 1280, height = 900, colorScheme = 'light', query = '', prepare, fresh = false, ...options } = {},
    ) {
      await start();
      const isPlain = !fresh && !prepare && Object.keys(options).length === 0;
      const context = (isPlain && idle.pop()) || (await browser.newContext(options));
      context.setDefaultTimeout(PATIENCE);
      const page = context.pages()[0] ?? (await context.newPage());
      const faults = [];
      page.on('console', (message) => isFault(message) && faults.push(textOf(message)));
      page.on('pageerror', (error) => faults.push(String(error)));
      // The browser aborts requests that are open when the page is left; that is no error.
      page.on(
        'requestfailed',
        (request) => request.failure()?.errorText !== 'net::ERR_ABORTED' && faults.push(`failed: ${request.url()}`),
      );
      const one = {
        page,
        context,
        faults,
        async done() {
          if (!inUse.delete(one)) return;
          if (isPlain && !page.isClosed()) idle.push(await asNew(page, tests.base));
          else await context.close();
        },
      };
      inUse.add(one);
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await prepare?.(page);
      await page.goto(`${tests.base}${query}${hash}`);
      await answered(page);
      return one;
    },
    // One page for all tests of the file.
    async lasting() {
      const one = await tests.open('', { fresh: true });
      inUse.delete(one);
      return one.page;
    },
  };
  before(start);
  afterEach(async () => {
    for (const one of [...inUse]) await one.done();
  });
  after(async () => {
    await browser.close();
    server.close();
  });
  return tests;
}

// The context of a page, cleared of everything that a test left in it.
async function asNew(page, base) {
  const context = page.context();
  page.removeAllListeners();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll();
  await context.setOffline(false);
  await context.clearPermissions();
  await context.clearCookies();
  await page.goto(`${base}icon.svg`);
  await page.evaluate(async () => {
    localStorage.clear();
    sessionStorage.clear();
    for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
    for (const name of await caches.keys()) await caches.delete(name);
  });
  return context;
}

// Waits until the answers are there; parts that are off have none.
export const answered = (page) =>
  page.waitForFunction(() => document.querySelector('.four .answer') && document.querySelector('#content h1'));

// The box of an element. Finds and measures in one call: an element redrawn in between has no box.
export const boxOf = (page, selector) =>
  page.evaluate((one) => document.querySelector(one).getBoundingClientRect().toJSON(), selector);

// Repeats a check until it passes: the effect of a click may come a moment later.
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

// Opens the folded groups around an input of the form, and on Start the form itself; setting an input of another load
// selects that load.
export const unfold = (page, path) =>
  page.locator(`#form [data-path="${path}"]`).evaluate((one) => {
    const isFolded = getComputedStyle(document.getElementById('form')).display === 'none';
    if (isFolded && window.innerWidth > 900) document.getElementById('open-inputs').click();
    const load = one.closest('.load-part');
    if (load) load.hidden = false;
    for (let at = one.closest('details'); at; at = at.parentElement.closest('details')) at.open = true;
  });

// Presses an entry of the header's menu: one of its buttons by id, or the link to a scene.
export async function chooseInMenu(page, id) {
  await page.locator('#more').click();
  await page.locator(`#menu :is(#${id}, [data-scene=${id}])`).click();
}

// Opens a scene by its tab, or from the menu.
export async function openScene(page, scene) {
  const tab = page.locator(`#tabs [data-scene=${scene}]`);
  if (await tab.count()) await tab.click();
  else await chooseInMenu(page, scene);
}

// Types into an input and waits for its answer. While the core is busy the form may be redrawn, which folds groups
// again.
export async function type(page, path, text) {
  await settled(page);
  await unfold(page, path);
  await page.locator(`#form [data-path="${path}"] input[type=text]`).fill(text);
  await settled(page);
}

// Waits until the core has answered everything and the address bar has followed. Each check comes after a frame, since
// the page hears of pointer moves with frames, and on a busy machine a frame may take longer than all the checks.
export const settled = (page) =>
  page.evaluate(async () => {
    const content = document.getElementById('content');
    for (let idle = 0; idle < 5; idle++) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
      if (content.getAttribute('aria-busy') !== 'false') idle = 0;
    }
  });
