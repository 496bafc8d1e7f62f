// Shared by the tests of the Explore scene: links to spaces of several sizes, and the scene's progress texts.
import { settled } from './browser.js';

export const GPT3 =
  '#/explore?cluster=dgx-a100&cluster.devices=64&model=gpt3-175b&serving=null&training.global_batch=64&training.sequence=2048&v=1';
export const LLAMA = '#/explore?cluster.devices=512&v=1';
// A space that takes seconds on a busy machine.
export const SMALL =
  '#/explore?cluster=dgx-a100&cluster.devices=16&model=llama-3.1-8b&serving=null&training.global_batch=64&training.sequence=2048&v=1';

// Opens Explore at a link and records every main-thread task over 50 ms.
export async function explore(chromium, hash, options) {
  const opened = await chromium.open(hash, options);
  await opened.page.waitForSelector('.ex-views');
  await opened.page.evaluate(() => {
    window.longTasks = [];
    new PerformanceObserver((list) =>
      window.longTasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ entryTypes: ['longtask'] });
  });
  return opened;
}
export const sized = (page) =>
  page.waitForFunction(() => /[\d,]+ mappings/.test(document.getElementById('explore-size')?.textContent));
export const done = (page) =>
  page.waitForFunction(() => /^All /.test(document.getElementById('explore-progress').textContent));
export const plain = (text) => text.replaceAll(/\s+/g, ' ');
export const progress = async (page) => plain(await page.locator('#explore-progress').textContent());
export const number = (text) => Number(text.replaceAll(',', ''));
// A new page opened at the link of another, with the question in its fields.
export async function reopened(chromium, page) {
  await settled(page);
  const { page: fresh } = await explore(chromium, new URL(page.url()).hash, { fresh: true });
  return fresh;
}
// Waits for the words under a sweep.
export const pointsOf = (page, words) =>
  page.waitForFunction((some) => document.querySelector('.ex-sweep .ex-status').textContent.startsWith(some), words);
