// Offline: the whole site is kept under one version and answered from it, so that versions never mix. The build writes the
// version and the list of files; a new version waits until the page asks for it.
const VERSION = 'BUILD';

self.addEventListener('install', (event) =>
  event.waitUntil(
    (async () => {
      const cache = await caches.open(VERSION);
      const files = (await (await fetch('files.txt')).text()).trim().split('\n');
      await cache.addAll(['./', ...files.filter((file) => file !== 'sw.js')]);
    })(),
  ),
);

self.addEventListener('activate', (event) =>
  event.waitUntil(
    (async () => {
      for (const key of await caches.keys()) if (key !== VERSION) await caches.delete(key);
      await self.clients.claim();
    })(),
  ),
);

self.addEventListener('message', ({ data }) => data === 'take over' && self.skipWaiting());

self.addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET' || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(
    (async () => (await (await caches.open(VERSION)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request))(),
  );
});
