// The first view of the page: its fetches, and the time until its answers are painted.

// Records in the page when the first four answers were painted.
const noteFirstAnswer = (page) =>
  page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (document.querySelectorAll('.four .answer').length < 4) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => (window.painted = performance.now())));
    }).observe(document, { subtree: true, childList: true });
  });

// Opens a page until its first answer is painted: the page, its fetches until then, and the time.
export async function firstView(context, base) {
  const page = await context.newPage();
  const asked = [];
  page.on('request', (request) =>
    asked.push({ path: new URL(request.url()).pathname.slice(1) || 'index.html', at: Date.now() }),
  );
  await noteFirstAnswer(page);
  await page.goto(base, { waitUntil: 'commit' });
  await page.waitForFunction(() => window.painted !== undefined, null, { polling: 5 });
  const [time, origin] = await page.evaluate(() => [window.painted, performance.timeOrigin]);
  const files = [...new Set(asked.filter(({ at }) => at <= origin + time).map(({ path }) => path))];
  await page.close();
  return { files, time };
}
