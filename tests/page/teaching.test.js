// Teaching with the page: an exercise that knows its answer, a course with slides, and lessons whose scenario shows in
// header and form.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import { slipstickCommand } from '../support/module.js';
import { answered, boxOf, chooseInMenu, eventually, settled, site } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const chromium = site();

const plain = (text) => text.replace(/\s+/gu, ' ');
const evaluated = (inputs) => JSON.parse(slipstickCommand(['evaluate', ...inputs]));

test('whoever follows a link to a lesson on a phone sees the lesson, and in a frame nothing moves', async () => {
  for (const hash of ['#/lessons/chiplets', '#/lessons/slides', '#/lessons']) {
    const { page, done } = await chromium.open(hash, { width: 320, height: 640, fresh: true });
    await eventually(async () => {
      const { top, bottom } = await boxOf(page, '#content h1');
      assert.ok(top >= 0 && bottom <= 480, `${hash}: ${top}`);
    });
    await done();
  }
  const { page } = await chromium.open('#/lessons/chiplets?embed=1&v=3', { width: 320, height: 640 });
  await settled(page);
  assert.equal(await page.evaluate(() => window.scrollY), 0);
  assert.ok(await page.evaluate(() => document.activeElement === document.body), 'nor takes the focus');
});

test('a class exercise: own numbers by name, an answer that is checked, a code that the teacher verifies', async () => {
  const { page, faults, done } = await chromium.open('#/serve?training=null&v=3');
  await chooseInMenu(page, 'export');
  await page.getByRole('button', { name: 'Make an exercise…' }).click();
  await page.locator('#exercise-question').fill('How long does an output token take?');
  await page.locator('#exercise-answer').selectOption('serving.tpot_s');
  await page.locator('#exercise-varied-0').selectOption('serving.concurrency');
  await page.locator('#exercise-values-0').fill('16, 64, 128');
  assert.equal(await page.locator('.may').count(), 4, 'no inputs of what is off');
  await eventually(async () => assert.match(await page.locator('#exercise-link').inputValue(), /figure=.*vary=/s));
  const link = await page.locator('#exercise-link').inputValue();
  await page.setViewportSize({ width: 320, height: 640 });
  const isWithin = (dialog) =>
    [...dialog.querySelectorAll('input, select, textarea')].every(
      (one) => one.getBoundingClientRect().right <= dialog.getBoundingClientRect().right,
    );
  assert.ok(await page.locator('dialog[open]').evaluate(isWithin), 'no field is cut on a phone');
  await done();

  const { page: student, faults: others } = await chromium.open('', {
    width: 320,
    colorScheme: 'dark',
    bypassCSP: true,
  });
  await student.goto('about:blank');
  await student.goto(link);
  await answered(student);
  await student.locator('#student').fill('Ana Lima');
  await student.keyboard.press('Enter');
  await student.locator('#exercise-check').waitFor();
  await settled(student);
  const [, drawn] = /Ana Lima · .* (16|64|128)$/u.exec(await student.locator('.asked p').first().textContent());
  assert.match(student.url(), new RegExp(`serving.concurrency=${drawn}.*student=Ana`));
  assert.equal(await student.locator('.four').isVisible(), false, 'the answers are hidden');
  assert.equal(await student.locator('#reveal').count(), 0, 'until the right one was given');
  const { serving } = evaluated(['version=3', 'training=null', `serving.concurrency=${drawn}`]);
  const milliseconds = serving.tpot_s * 1000;
  await student.locator('#prediction').fill(String(milliseconds * 2));
  await student.locator('#exercise-check').click();
  assert.match(await student.locator('.checked').textContent(), /Try again/);
  await student.locator('#prediction').fill(`${milliseconds.toPrecision(3)} ms`);
  await student.keyboard.press('Enter');
  const code = await student.locator('#exercise-code').textContent();
  await student.locator('#reveal').click();
  await eventually(async () => assert.equal(await student.locator('.four').isVisible(), true));
  assert.equal(await student.locator('#exercise-code').textContent(), code, 'the code stays');
  await student.locator('[data-key=codes] > summary').click();
  for (const [name, says] of [
    ['ana lima', /Right, on try 2/],
    ['Ben', /Not a code/],
  ]) {
    await student.locator('#code-student').fill(name);
    await student.locator('#code').fill(code);
    await student.locator('#code-check').click();
    assert.match(await student.locator('[data-key=codes] [role=status]').textContent(), says);
  }
  await student.evaluate(AXE);
  const { violations } = await student.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(
    violations.map(({ id }) => id),
    [],
  );
  assert.ok((await student.evaluate(() => document.documentElement.scrollWidth)) <= 320);
  assert.deepEqual([...faults, ...others], []);
});

test('an answer in dollars is read with and without its sign, and what is no number is said to be none', async () => {
  const { page, faults } = await chromium.open(
    '#/train?ask=What+does+it+cost&figure=training.cost_usd&student=Ann&v=3',
  );
  const [, shown, millions] = /run \$([\d.]+)\s(M)/.exec(plain(await page.locator('[data-answer=cost]').innerText()));
  assert.equal(millions, 'M');
  const answer = async (words) => {
    await page.locator('#prediction').fill(words);
    await page.locator('#exercise-check').click();
    return page.locator('.checked').innerText();
  };
  assert.match(plain(await page.locator('.asked').innerText()), /Your answer, in \$ M/);
  assert.equal(await answer('cheap'), 'Not a number: “cheap”.');
  assert.equal(await answer('0.1'), 'Not right yet. Try again.');
  assert.equal(await page.locator('#exercise-code').count(), 0);
  await answer(`$${shown}`);
  assert.equal(await page.locator('#exercise-code').count(), 1);
  assert.deepEqual(faults, []);
});

test('the course: ten lessons, and slides whose figures the core computes, a page each', async () => {
  const { page, faults } = await chromium.open('#/lessons', { fresh: true });
  await page.waitForSelector('.syllabus li');
  assert.equal(await page.locator('.syllabus li').count(), 10);
  await page.locator('[data-key=slides]').click();
  await page.waitForFunction(
    () =>
      document.querySelectorAll('.slides .watched').length === 10 &&
      document.querySelectorAll('.slides .expect').length === 10,
  );
  assert.equal(await page.locator('.slides .fails').count(), 0);
  const first = evaluated(['version=1', ...STARTED]);
  assert.ok(
    plain(await page.locator('.slide.acts').first().innerText()).includes(
      `${Number((first.serving.decode_step_s * 1000).toPrecision(3))} ms`,
    ),
  );
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page[^s]/g).length, 31, 'a title, and three of each lesson');
  assert.deepEqual(faults, []);
});

const lesson = JSON.parse(readFileSync(new URL('../../web/lessons/decode-memory-bound.json', import.meta.url), 'utf8'));
const STARTED = Object.entries(lesson.start).map(([path, value]) => `${path}=${value}`);

test('a lesson opened from the list shows its scenario in the header at once, but does not replace the visitor’s own', async () => {
  const { page, done } = await chromium.open('#/lessons');
  const lead = () => page.locator('[data-key=lesson-decode-memory-bound]').click();
  await page.waitForSelector('.lessons a');
  await lead();
  await eventually(async () => assert.match(await page.locator('.say').innerText(), /Llama-2-7B.*A100/s));
  assert.equal(await page.locator('[data-key=lesson-start]').count(), 0);
  await done();
  const { page: own } = await chromium.open('#/lessons?cluster.devices=64&v=3');
  await own.waitForSelector('.lessons a');
  await own.locator('[data-key=lesson-decode-memory-bound]').click();
  await own.waitForSelector('[data-key=lesson-start]');
  await settled(own);
  assert.match(own.url(), /cluster\.devices=64/);
});
