// Cached for offline use: one version at a time, without touching other apps of the same origin.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { serveSite } from '../support/site_server.js';
import { answered, launch, settled, SITE } from './browser.js';

const CHANGED = ['main.js', 'dom.js', 'index.html']; // fetched before the service worker starts, and after
const MARK = 'second build';

let root;
let server;
const sent = [];
let browser;
let base;

// The site in its own folder under /slip/, and another app of the origin under /other/.
before(async () => {
  root = `${mkdtempSync(join(tmpdir(), 'builds-'))}/`;
  for (const build of ['first', 'second']) cpSync(SITE, `${root}${build}/`, { recursive: true });
  cpSync(`${SITE}icon.svg`, `${root}other/index.html`);
  const second = `${root}second/`;
  for (const file of CHANGED) {
    const text = readFileSync(second + file, 'utf8');
    writeFileSync(
      second + file,
      file.endsWith('.html') ? text.replace('</body>', `<!-- ${MARK} --></body>`) : `${text}\n// ${MARK}\n`,
    );
  }
  writeFileSync(
    `${second}sw.js`,
    readFileSync(`${second}sw.js`, 'utf8').replace(/VERSION = '\w+'/, "VERSION = 'second'"),
  );
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.close();
  rmSync(root, { recursive: true });
});

test('a new version keeps nothing of the old one, and does not delete the caches of other apps', async () => {
  const folders = { '/slip/': `${root}first/`, '/other/': `${root}other/` };
  server = await serveSite({
    folders,
    headers: { 'cache-control': 'max-age=600' },
    onsend: (path) => sent.push(path),
  });
  base = `http://127.0.0.1:${server.address().port}`;
  const context = await browser.newContext();
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  await page.goto(`${base}/other/`);
  await page.evaluate(async () => {
    await (await caches.open('other-app-v1')).put('/other/data', new Response('theirs'));
    await (await caches.open('slipstick-of-another-path')).put('/other/more', new Response('theirs'));
  });
  await page.goto(`${base}/slip/?offline`);
  await answered(page);
  const controlled = () =>
    page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 50));
    });
  await controlled();
  // When everything is cached, the page's own fetches are not repeated: the module is most of a visit.
  assert.deepEqual(
    sent.filter((path) => path.startsWith('/slip/wasm/')).sort(),
    ['/slip/wasm/slipstick.js', '/slip/wasm/slipstick.wasm'],
    'the module is fetched once',
  );
  const kept = () =>
    page.evaluate(async (files) => {
      const found = [];
      for (const key of await caches.keys()) {
        const cache = await caches.open(key);
        const texts = await Promise.all(
          files.map(async (file) => (await cache.match(new URL(file, new URL('/slip/', location)).href))?.text()),
        );
        found.push({ key, texts });
      }
      return found;
    }, CHANGED);
  const before = await kept();
  const own = before.filter(({ texts }) => texts[0]);
  assert.equal(own.length, 1);
  assert.ok(own[0].texts.every((text) => text && !text.includes(MARK)));
  assert.ok(
    before.some(({ key }) => key === 'other-app-v1') && before.some(({ key }) => key === 'slipstick-of-another-path'),
    'not its own',
  );

  folders['/slip/'] = `${root}second/`;
  const beside = await context.newPage(); // stays open with the first build
  await beside.goto(`${base}/slip/?offline`);
  await answered(beside);
  await beside.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/state/offline.js')),
  );
  await settled(beside);
  const reloaded = beside.waitForEvent('load');
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update());
  await page.locator('#notice .link').click(); // reloads into the new version
  await reloaded;
  await page.waitForFunction((mark) => document.documentElement.outerHTML.includes(mark), MARK);
  await answered(page);
  const now = await kept();
  const ours = now.filter(({ texts }) => texts[0]);
  assert.equal(ours.length, 1, 'the old version is gone');
  for (const [i, file] of CHANGED.entries()) assert.ok(ours[0].texts[i].includes(MARK), `${file} is of the new build`);
  assert.ok(
    now.some(({ key }) => key === 'other-app-v1') && now.some(({ key }) => key === 'slipstick-of-another-path'),
  );
  await context.close();
});
