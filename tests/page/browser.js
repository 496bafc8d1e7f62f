// The built site behind a small server, and a Chromium on it; what went wrong on the page is collected.
import { readFileSync } from 'node:fs';
import { after, afterEach, before } from 'node:test';
import { chromium } from 'playwright-core';
import { serveSite, SITE } from '../support/site_server.js';

export { timed } from '../support/timed.js';
export { SITE } from '../support/site_server.js';

// The newest version of links.
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
// The module's functions are optimized after four times as much work as the browser waits for: in a page that a test
// soon leaves that does not pay, in a long search it does. The tests of speed run the browser as it is.
const QUICK = [...FLAGS, '--js-flags=--wasm-tiering-budget=50000000'];

// The shell has the engine alone: the whole browser takes three times as long to start, and more of every page.
export const launch = (flags = QUICK) =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: flags });

// An error or a warning on the console, with the address of what could not be loaded. Of a picture, on which a page waits for
// its next test, the browser asks for a /favicon.ico that no site has.
const isFault = (message) =>
  ['error', 'warning'].includes(message.type()) && !message.location().url.endsWith('/favicon.ico');
const textOf = (message) =>
  message.text().startsWith('Failed to load') ? `${message.text()}: ${message.location().url}` : message.text();

// How long what a test waits for may take, in ms: a busy machine takes ten times what an idle one does.
const PATIENCE = 180_000;

// The site in a Chromium, for the tests of a file: {base, open(hash, options) -> {page, context, faults, done()}, lasting() -> page}.
// A page is ready for the next test when its own has ended: a new one takes three times as long to open. A test that needs
// options of a context, `prepare(page)` before the page is fetched, or `fresh: true` has a context of its own.
export function site({ flags = QUICK, compressed = false } = {}) {
  let server;
  let browser;
  let started;
  const idle = [];
  const inUse = new Set();
  // A file's own `before` may come first.
  const start = () =>
    (started ??= (async () => {
      // A context keeps the files for its next page: asking whether each is as it was would be a quarter of the work.
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
      // A request that is open when the page is left is given up; that is no error.
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
    // A page for all tests of the file.
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

// The context of a page, with nothing left of what a test did with it.
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

// Until the answers stand; what is off has none.
export const answered = (page) =>
  page.waitForFunction(() => document.querySelector('.four .answer') && document.querySelector('#content h1'));

// Where an element stands. It is found and measured at once: one that is drawn anew in between stands nowhere.
export const boxOf = (page, selector) =>
  page.evaluate((one) => document.querySelector(one).getBoundingClientRect().toJSON(), selector);

// Runs a check again until it passes: what a click starts may end a moment later.
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

// Opens what an input of the form is folded in, on Start the form too; one of a load that is not chosen is chosen by being written.
export const unfold = (page, path) =>
  page.locator(`#form [data-path="${path}"]`).evaluate((one) => {
    const isFolded = getComputedStyle(document.getElementById('form')).display === 'none';
    if (isFolded && window.innerWidth > 900) document.getElementById('open-inputs').click();
    const load = one.closest('.load-part');
    if (load) load.hidden = false;
    for (let at = one.closest('details'); at; at = at.parentElement.closest('details')) at.open = true;
  });

// Presses what the header's menu holds: one of its buttons by id, or the link to a scene.
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

// Types into an input and waits for the answer that has it. While the core is busy the form may be made anew, and folds what was unfolded.
export async function type(page, path, text) {
  await settled(page);
  await unfold(page, path);
  await page.locator(`#form [data-path="${path}"] input[type=text]`).fill(text);
  await settled(page);
}

// Until the core has answered everything and the address bar has followed: idle for longer than the link waits. Each look comes after a
// frame, with which the page hears of moves of a pointer: on a busy machine a frame may take longer than all the looks without it.
export const settled = (page) =>
  page.evaluate(async () => {
    const content = document.getElementById('content');
    for (let idle = 0; idle < 5; idle++) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
      if (content.getAttribute('aria-busy') !== 'false') idle = 0;
    }
  });
