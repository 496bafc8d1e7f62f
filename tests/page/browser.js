// The built site behind a small server, and a Chromium on it; what went wrong on the page is collected.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serveSite, SITE } from '../support/site_server.js';

export { timed } from '../support/timed.js';
export { SITE } from '../support/site_server.js';

// The newest version of links.
export const NEWEST = Math.max(...Object.keys(JSON.parse(readFileSync(`${SITE}data/first_view.json`, 'utf8')).described.defaults).map(Number));

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

// How long what a test waits for may take, in ms: a busy machine takes ten times what an idle one does.
const PATIENCE = 180_000;

// {base, open(hash, options) -> {page, context, faults}, close()}
export async function site() {
  const server = await serveSite();
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
  const base = `http://127.0.0.1:${server.address().port}/`;
  return {
    base,
    // `prepare(page)` is called before the page is fetched.
    async open(hash = '', { width = 1280, height = 900, colorScheme = 'light', query = '', prepare, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme, ...options });
      context.setDefaultTimeout(PATIENCE);
      const page = await context.newPage();
      const faults = [];
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(String(error)));
      // What is asked for when the page is left is given up, which is no fault.
      page.on('requestfailed', (request) => request.failure()?.errorText !== 'net::ERR_ABORTED' && faults.push(`failed: ${request.url()}`));
      await prepare?.(page);
      await page.goto(`${base}${query}${hash}`);
      await answered(page);
      return { page, context, faults };
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

// Until the answers stand; what is off has none.
export const answered = (page) =>
  page.waitForFunction(() => document.querySelector('.four .answer') && document.querySelector('#content h1'));

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

// Types into an input and waits for the answer that has it.
export async function type(page, path, text) {
  const field = page.locator(`[data-path="${path}"] input[type=text]`);
  await field.evaluate((one) => {
    for (let at = one.closest('details'); at; at = at.parentElement.closest('details')) at.open = true;
  });
  await field.fill(text);
  await settled(page);
}

// Until the core has answered everything and the address bar has followed: idle for longer than the link waits. Each look comes after a
// frame, with which the page hears of moves of a pointer: on a busy machine a frame may take longer than all the looks without it.
export const settled = (page) =>
  page.evaluate(async () => {
    const content = document.getElementById('content');
    for (let idle = 0; idle < 7; idle++) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
      if (content.getAttribute('aria-busy') !== 'false') idle = 0;
    }
  });
