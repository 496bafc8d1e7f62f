import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { eventually, settled, site, unfold } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const chromium = site();

const scenesOf = (page) =>
  page.locator('#tabs a, #more-scenes a').evaluateAll((all) => all.map((one) => one.dataset.scene));
// The scenes, and the views of scenes with several.
const VIEWS = {
  chip: ['dies', 'chiplets', 'design', 'technology', 'hour', 'certainty'],
  explore: ['frontier', 'sweep', 'solve', 'sensitivity', 'studies'],
};
const UNTABBED = ['evidence/training.step_time_s', 'evidence/serving.tpot_s'];
const placesOf = async (page) =>
  (await scenesOf(page))
    .flatMap((scene) => [scene, ...(VIEWS[scene] ?? []).map((view) => `${scene}/${view}`)])
    .concat(UNTABBED);

// Leaves out target sizes, which axe compares pair by pair: a test below measures them in every scene.
const RULES = { runOnly: TAGS, rules: { 'target-size': { enabled: false } } };
const CONTRAST = { runOnly: { type: 'rule', values: ['color-contrast'] } };

async function violations(page, within, rules = RULES) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations: found } = await page.evaluate(
    ([where, which]) => globalThis.axe.run(where ?? document, { ...which, resultTypes: ['violations'] }),
    [within, rules],
  );
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target }) => target.join(' '))
        .slice(0, 3)
        .join(' | ')}`,
  );
}

// What `look` sees in each place, in one walk: reaching a place takes longer than looking at it.
async function walk(options, look) {
  const { page, done } = await chromium.open('#/overview', { ...options, bypassCSP: true });
  const seen = [];
  for (const place of await placesOf(page)) {
    await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
    await settled(page);
    seen.push({ place, ...(await look(page, place)) });
  }
  await done();
  return seen;
}
// Each theme and each width once, and the frame around the scenes once with each. A theme changes only colors.
let phone;
const onPhone = () =>
  (phone ??= walk({ colorScheme: 'light', width: 320 }, async (page, place) => ({
    width: await page.evaluate(() => document.documentElement.scrollWidth),
    faults: await violations(page, place === 'overview' ? undefined : '#content'),
  })));
let desk;
const onDesk = () =>
  (desk ??= walk({ colorScheme: 'dark', width: 1280 }, async (page, place) => ({
    frame: await page.evaluate(frameOf),
    small: await smallTargets(page, place),
    faults: await (place === 'overview' ? violations(page) : violations(page, '#content', CONTRAST)),
    charts: await chartsOf(page),
  })));
// Where a member of what was seen is not as wanted.
const except = (seen, member, wanted) =>
  seen.map((one) => [one.place, one[member]]).filter(([, value]) => !isDeepStrictEqual(value, wanted));

test('axe finds nothing in any scene, light, 320 px', async () => {
  assert.deepEqual(except(await onPhone(), 'faults', []), []);
});

test('axe finds nothing in any scene, dark, 1280 px', async () => {
  assert.deepEqual(except(await onDesk(), 'faults', []), []);
});

for (const [colorScheme, width] of [
  ['light', 320],
  ['dark', 1440],
]) {
  test(`axe finds nothing on the scoreboard, ${colorScheme}, ${width} px`, async () => {
    const { page } = await chromium.open('#/overview', { colorScheme, width, bypassCSP: true });
    await page.goto(`${chromium.base}scoreboard.html`);
    await page.locator('details').first().locator('summary').click();
    assert.deepEqual(await violations(page, null, { runOnly: TAGS }), []);
  });
}

test('axe finds nothing in the why sheet', async () => {
  const { page } = await chromium.open('#/train', { bypassCSP: true });
  await page.locator('.figure .why').first().click();
  await page.waitForSelector('#sheet math');
  assert.deepEqual(await violations(page), []);
});

async function chartsOf(page) {
  const charts = await page.locator('figure.chart').evaluateAll((all) =>
    all.map((figure) => {
      const svg = figure.querySelector('.drawing svg');
      const details = figure.querySelector('details.data');
      if (details) details.open = true;
      return {
        id: figure.id,
        role: svg.getAttribute('role'),
        name: document.getElementById(svg.getAttribute('aria-labelledby'))?.textContent.trim(),
        summary: document.getElementById(svg.getAttribute('aria-describedby'))?.textContent.trim(),
        stops: svg.querySelectorAll('[tabindex="0"]').length,
        marks: svg.querySelectorAll('.mark').length,
        unnamed: [...svg.querySelectorAll('[aria-label]')].filter((one) => !one.getAttribute('role')).length,
        hasTable: Boolean(details),
      };
    }),
  );
  // Later results may redraw the chart, which closes its table.
  for (const { id, hasTable } of charts)
    if (hasTable)
      await page.waitForFunction((one) => {
        const details = document.querySelector(`#${one} details.data`);
        if (details) details.open = true;
        return details?.querySelector('tbody tr');
      }, id);
  return charts;
}

test('every chart has a name, a summary, a table with numbers, and one tab stop', async () => {
  for (const { place, charts } of await onDesk())
    for (const chart of charts) {
      const where = `${place}: ${chart.id}`;
      assert.match(chart.role, /graphics-document/, where);
      assert.ok(chart.name, where);
      assert.ok(chart.summary, `${where} has no summary`);
      assert.ok(chart.marks > 0, where);
      assert.equal(chart.stops, 1, where);
      assert.equal(chart.unnamed, 0, where);
      assert.ok(chart.hasTable, where);
    }
});

test('arrow keys move over the marks of a chart and announce them', async () => {
  const { page } = await chromium.open('#/train');
  await settled(page);
  // Later results redraw the scene.
  const first = await eventually(async () => {
    await page.locator('#step-bar .mark').first().focus();
    const said = await page.locator('#step-bar .tip').textContent();
    assert.match(said, /\d/);
    return said;
  });
  await page.keyboard.press('ArrowRight');
  const second = await page.locator('#step-bar .tip').textContent();
  assert.notEqual(second, first);
  await page.keyboard.press('End');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#step-bar .tip').isHidden(), true);
});

test('nothing scrolls sideways at 320 px, as at 400 % zoom', async () => {
  assert.deepEqual(
    (await onPhone()).filter(({ width }) => width > 320).map(({ place }) => place),
    [],
  );
});

// Lists and measures in one call: an element redrawn in between would have no size.
async function smallTargets(page, place) {
  if (place === 'size')
    await page.waitForFunction(() => / in /.test(document.querySelector('#size-progress')?.textContent));
  return page.evaluate(() =>
    [...document.querySelectorAll('button, a[href], input, select, summary')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }))
      .filter((one) => !one.closest('p') && !one.classList.contains('skip'))
      // A box with a name is as large as its name.
      .map((one) => ({ name: one.outerHTML.slice(0, 90), box: (one.closest('label') ?? one).getBoundingClientRect() }))
      .filter(({ box }) => box.width < 24 || box.height < 24)
      .map(({ name, box }) => `${Math.round(box.width)}x${Math.round(box.height)} ${name}`),
  );
}

test('targets are at least 24 by 24 pixels', async () => {
  assert.deepEqual(except(await onDesk(), 'small', []), []);
});

test('up and down change the series, Enter opens why, and the mark is announced when the focus rests', async () => {
  const { page } = await chromium.open('#/memory');
  const label = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await page.waitForSelector('#kv-context .mark');
  await page.locator('#kv-context .mark[tabindex="0"]').focus();
  const first = await label();
  // Later results redraw the scene; the focus must stay.
  await settled(page);
  assert.equal(await label(), first);
  await page.keyboard.press('ArrowDown');
  assert.notEqual((await label()).split(':')[0], first.split(':')[0], 'another series');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement.firstElementChild).strokeWidth);
  assert.ok(parseFloat(outline) >= 2);
  await page.waitForFunction(
    () =>
      document.querySelector('#kv-context .spoken').textContent === document.activeElement.getAttribute('aria-label'),
  );
  await page.locator('#serving-memory .mark').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('#sheet math');
});

test('everything is legible at twice the text size, with forced colors and with reduced motion', async () => {
  const { page } = await chromium.open('#/serve', { width: 640, forcedColors: 'active', reducedMotion: 'reduce' });
  await page.addStyleTag({ content: 'body { font-size: 30px }' }).catch(() => {});
  await settled(page);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 640);
  const seen = await page.evaluate(() => {
    const ground = getComputedStyle(document.body).backgroundColor;
    const marks = [...document.querySelectorAll('#roofline .mark > *')].map((one) => getComputedStyle(one).fill);
    const moving = [...document.querySelectorAll('*')].filter(
      (one) => parseFloat(getComputedStyle(one).transitionDuration) > 0.02,
    ).length;
    return { ground, visible: marks.every((fill) => fill !== ground), moving };
  });
  assert.equal(seen.visible, true);
  assert.equal(seen.moving, 0);
});

test('a change is announced once, in one summary', async () => {
  const { page } = await chromium.open('#/serve');
  await page.evaluate(() => {
    window.said = [];
    new MutationObserver(() => window.said.push(document.querySelector('.answers [role=status]').textContent)).observe(
      document.querySelector('.answers [role=status]'),
      { childList: true, subtree: true, characterData: true },
    );
  });
  await page.locator('[data-path="serving.concurrency"] .rule input').focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  const heard = await page.evaluate(() => window.said);
  assert.equal(heard.length, 1);
  assert.match(heard[0], /takes .* per output token \(TPOT\) and is bound by other users’ prefills\./);
});

const frameOf = () => ({
  lang: document.documentElement.lang,
  h1: document.querySelectorAll('h1').length,
  main: document.querySelectorAll('main').length,
  header: document.querySelectorAll('body > header').length,
  footer: document.querySelectorAll('body > footer').length,
  help: document.querySelector('#help').parentElement.id,
});

test('language, one first-level heading, landmarks, help in the same place, a working skip link', async () => {
  const wanted = { lang: 'en', h1: 1, main: 1, header: 1, footer: 1, help: 'menu' };
  assert.deepEqual(except(await onDesk(), 'frame', wanted), []);
  const { page } = await chromium.open('#/train');
  await page.locator('.skip').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'scene');
});

test('single keys work outside fields only, ? lists them, and they can be turned off', async () => {
  const { page } = await chromium.open('#/overview');
  await unfold(page, 'cluster.devices');
  await page.locator('[data-path="cluster.devices"] input[type=text]').focus();
  await page.keyboard.press('2');
  assert.equal(await page.locator('#tabs [aria-current]').textContent(), 'Start');
  await page.keyboard.press('Escape');
  await page.locator('h1.question').focus();
  await page.keyboard.press('2');
  await settled(page);
  assert.equal(await page.locator('#tabs [aria-current]').textContent(), 'Train');
  await page.keyboard.press('?');
  await page.waitForSelector('#single-keys');
  assert.ok((await page.locator('dialog.modal kbd').count()) >= 8);
  await page.locator('#single-keys').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('3');
  assert.equal(await page.locator('#tabs [aria-current]').textContent(), 'Train');
});
