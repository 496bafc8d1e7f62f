// Drives Firefox by WebDriver BiDi and WebKit by classic WebDriver, with the few calls that the journeys need: {name,
// open(url), run(function, ...args), click(selector), type(selector, text), press(key), close()}.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';

const PATIENCE = 180_000; // ms to wait: a busy machine takes ten times as long as an idle one

export async function firefox() {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    headless: true,
    protocolTimeout: PATIENCE,
    timeout: PATIENCE,
  });
  const page = await browser.newPage();
  const faults = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.setViewport({ width: 1280, height: 900 });
  return {
    name: 'Firefox',
    faults,
    open: (url) => page.goto(url, { timeout: PATIENCE }),
    run: (what, ...args) => page.evaluate(what, ...args),
    click: (selector) => page.locator(selector).setTimeout(PATIENCE).click(), // tries again if the element was redrawn meanwhile
    async type(selector, text) {
      await page.locator(selector).setTimeout(PATIENCE).click({ count: 3 });
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    },
    press: (key) => page.keyboard.press(key),
    close: () => browser.close(),
  };
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const KEYS = { Enter: '\uE007', Escape: '\uE00C' };
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

export async function webkit() {
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), 'slipstick-webkit-'));
  const environment = {
    ...process.env,
    HOME: home,
    XDG_RUNTIME_DIR: home,
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    LIBGL_ALWAYS_SOFTWARE: '1',
  };
  const driver = spawn('xvfb-run', ['-a', '-s', '-screen 0 1400x1000x24', 'WebKitWebDriver', `--port=${port}`], {
    env: environment,
    stdio: 'ignore',
    detached: true,
  });
  const ask = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      body: body && JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${path}: ${value?.error} ${value?.message}`);
    return value;
  };
  for (const end = Date.now() + 30_000; ; await pause(200)) {
    const isReady = await ask('GET', '/status').then(
      () => true,
      () => false,
    );
    if (isReady) break;
    if (Date.now() > end) throw new Error('WebKitWebDriver does not answer');
  }
  const { sessionId } = await ask('POST', '/session', { capabilities: {} }); // WebKit's MiniBrowser
  const at = `/session/${sessionId}`;
  await ask('POST', `${at}/timeouts`, { script: PATIENCE, pageLoad: PATIENCE });
  await ask('POST', `${at}/window/rect`, { width: 1280, height: 900 });
  const run = (what, ...args) => ask('POST', `${at}/execute/sync`, { script: `return (${what})(...arguments)`, args });
  // Waits for the element to be drawn.
  async function find(selector) {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await pause(200)) {
      if (await run((path) => document.querySelector(path)?.getClientRects().length > 0, selector)) break;
    }
    await run((path) => document.querySelector(path)?.scrollIntoView({ block: 'center' }), selector); // the driver leaves it below the edge of the window
    return (await ask('POST', `${at}/element`, { using: 'css selector', value: selector }))[ELEMENT];
  }
  // Tries again if an element is redrawn before it is used.
  async function insist(act) {
    for (const end = Date.now() + PATIENCE; ; await pause(200)) {
      try {
        return await act();
      } catch (error) {
        if (Date.now() > end || !/stale element|not interactable/.test(error.message)) throw error;
      }
    }
  }
  const send = (selector, text) =>
    insist(async () => ask('POST', `${at}/element/${await find(selector)}/value`, { text }));
  return {
    name: 'WebKit',
    faults: [],
    open: (url) => ask('POST', `${at}/url`, { url }),
    run,
    click: (selector) => insist(async () => ask('POST', `${at}/element/${await find(selector)}/click`, {})),
    async type(selector, text) {
      for (let value; value !== text; value = await run((path) => document.querySelector(path).value, selector)) {
        await find(selector);
        await run((path) => document.querySelector(path).select(), selector);
        await send(selector, text + KEYS.Enter); // Enter may have been lost if the field was redrawn
      }
    },
    press: (key) => send(':focus', KEYS[key] ?? key),
    async close() {
      await ask('DELETE', at).catch(() => {});
      process.kill(-driver.pid);
      await pause(500);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
