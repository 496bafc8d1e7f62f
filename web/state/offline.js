// Caches the site for offline use. Not on the developer's own machine, where a cached copy would hide a new build,
// unless requested.

const isLocal = () =>
  ['localhost', '127.0.0.1', ''].includes(location.hostname) && !location.search.includes('offline');

// `onupdate(reload)` is called when a newer version is ready.
export async function keepOffline(onupdate) {
  if (!('serviceWorker' in navigator) || isLocal()) return;
  try {
    // Reloads every open page of the site, since files that it has not fetched yet would come from the new version.
    // Listens before waiting for anything.
    let isKept = Boolean(navigator.serviceWorker.controller);
    navigator.serviceWorker.addEventListener('controllerchange', () => {
      if (isKept) location.reload();
      isKept = true;
    });
    const registration = await navigator.serviceWorker.register('sw.js');
    const offer = (worker) => onupdate(() => worker.postMessage('take over'));
    if (registration.waiting) offer(registration.waiting);
    registration.addEventListener('updatefound', () => {
      const worker = registration.installing;
      worker.addEventListener(
        'statechange',
        () => worker.state === 'installed' && navigator.serviceWorker.controller && offer(worker),
      );
    });
  } catch {
    // Sandboxed frames and file: pages have no service worker; the page works as before.
  }
}
