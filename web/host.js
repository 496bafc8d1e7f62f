// What the page needs of its host: workers, data files, style sheets. The single-file edition has its own version
// (single_file.py).

export const startWorker = (name) => new Worker(new URL(`engine/${name}.js`, import.meta.url), { type: 'module' });

export const readJson = async (path) => (await fetch(new URL(path, import.meta.url))).json();

export const compileCore = async () => {
  const response = await fetch(new URL('wasm/slipstick.wasm', import.meta.url));
  const streams = response.headers.get('Content-Type') === 'application/wasm';
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
};

// Resolves when the sheet applies or has failed to load.
export const addStyle = (path) =>
  new Promise((resolve) => {
    const sheet = document.createElement('link');
    Object.assign(sheet, {
      rel: 'stylesheet',
      href: new URL(path, import.meta.url).href,
      onload: resolve,
      onerror: resolve,
    });
    document.head.append(sheet);
  });

// Whether other pages are next to this one: the lessons as text, the scoreboard.
export const hasPages = true;
