// Offline: the whole site is kept under one version and answered from it, so that versions never mix. The build writes the
// version and the list of files; a new version waits until the page asks for it.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const VERSION = 'BUILD';
// Other apps of this origin, and this one under another path, have their own caches. A scope contains no space.
const OWN = `slipstick ${worker.registration.scope} `;
const KEPT = OWN + VERSION;

// The browser's HTTP cache may hold files of an earlier version, so the server is asked and sends only changed files.
// Most of a visit is the module, which the page has just fetched.
const fresh = (file) => new Request(file, { cache: 'no-cache' });

worker.addEventListener('install', (event) =>
  event.waitUntil(
    (async () => {
      const cache = await caches.open(KEPT);
      const files = (await (await fetch(fresh('files.txt'))).text()).trim().split('\n');
      await cache.addAll(['./', ...files.filter((file) => file !== 'sw.js')].map(fresh));
    })(),
  ),
);

worker.addEventListener('activate', (event) =>
  event.waitUntil(
    (async () => {
      for (const key of await caches.keys()) if (key.startsWith(OWN) && key !== KEPT) await caches.delete(key);
      await worker.clients.claim();
    })(),
  ),
);

worker.addEventListener('message', ({ data }) => data === 'take over' && worker.skipWaiting());

worker.addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET' || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(
    (async () =>
      (await (await caches.open(KEPT)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request))(),
  );
});
