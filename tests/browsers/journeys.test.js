// The main journeys in the other engines: the page opens, answers follow the inputs, every scene draws, a formula opens, a link comes back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serveSite } from '../support/site_server.js';
import { firefox, webkit } from './drivers.js';

const SCENES = ['overview', 'train', 'serve', 'size', 'memory', 'chip', 'explore', 'compare', 'lessons', 'method'];
const PATIENCE = 300_000; // ms

let server, base;
before(async () => {
  server = await serveSite();
  base = `http://127.0.0.1:${server.address().port}/`;
});
after(() => server.close());

// Waits until the page's description of itself passes; asks for it again until then.
async function until(browser, what, isRight, words) {
  let value;
  for (const end = Date.now() + PATIENCE; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 100))) {
    value = await browser.run(what);
    if (isRight(value)) return value;
  }
  return assert.fail(`${browser.name}, ${words}: ${JSON.stringify(value)}`);
}

const answers = () => [...document.querySelectorAll('.four .answer .value')].map((one) => one.textContent);
const isIdle = () => document.getElementById('content')?.getAttribute('aria-busy') === 'false';
const answered = (browser) =>
  until(browser, answers, (all) => all.length === 4 && all.every((one) => one !== '–'), 'four answers');

for (const start of [firefox, webkit]) {
  test(`${start.name}: the journeys`, async (context) => {
    const browser = await start();
    try {
      await context.test('the page opens with four answers', async () => {
        await browser.open(base);
        await answered(browser);
      });
      await context.test('another input moves the answers, and its link brings them back', async () => {
        await browser.open(`${base}#/serve`);
        const before = await answered(browser);
        await browser.type('#in-serving-prompt', '4000');
        const after = await until(browser, answers, (all) => all[1] !== before[1], 'the token follows the prompt');
        const link = await until(
          browser,
          () => location.href,
          (href) => href.includes('serving.prompt=4000'),
          'the address follows',
        );
        await browser.open('about:blank');
        await browser.open(link);
        await until(browser, answers, (all) => all[1] === after[1], 'the link brings the answer back');
      });
      await context.test('every scene draws', async () => {
        for (const scene of SCENES) {
          await browser.open(`${base}#/${scene}`);
          await until(
            browser,
            () => document.querySelector('#content h1')?.textContent ?? '',
            (title) => title.length > 4,
            scene,
          );
          await until(browser, isIdle, Boolean, `${scene} comes to rest`);
          const sticksOut = await browser.run(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          assert.ok(sticksOut <= 0, `${browser.name}, ${scene}: ${sticksOut} px too wide`);
        }
      });
      await context.test('a figure opens into its formula', async () => {
        await browser.open(`${base}#/serve?serving.batch=48&v=1`);
        await answered(browser);
        await browser.click('.why[data-path="serving.tpot_s"]');
        await until(
          browser,
          () => document.querySelectorAll('#sheet math').length,
          (count) => count > 0,
          'its formula',
        );
        await browser.press('Escape');
        await until(
          browser,
          () => document.getElementById('sheet').open,
          (isOpen) => !isOpen,
          'Escape closes it',
        );
      });
      await context.test('scenarios stand side by side', async () => {
        await browser.open(`${base}#/compare?b:model=llama-3.1-8b&c:cluster=dgx-b200&v=1`);
        await until(
          browser,
          () => document.querySelectorAll('.compare thead th').length,
          (count) => count === 4,
          'three columns',
        );
      });
      await context.test('a search runs in its workers', async () => {
        await browser.open(`${base}#/explore/search?cluster.devices=64&model=llama-3.1-8b&serving=null&v=1`);
        await until(
          browser,
          () => document.querySelectorAll('.ex-table:not([hidden]) tbody tr').length,
          (count) => count > 3,
          'its table',
        );
      });
      assert.deepEqual(browser.faults, []);
    } finally {
      await browser.close();
    }
  });
}
