// The core comes twice, from the same sources: first.wasm has what the first view asks, at half the size; slipstick.wasm
// everything. Either answers a verb with texts in and a text out.

const FIRST = ['evaluate', 'timeline', 'describe', 'presets'];

const fetched = async () => (await fetch(new URL('../wasm/first.wasm', import.meta.url))).arrayBuffer();

// The first module needs no glue: texts go through its memory. `bytes` where it cannot be fetched.
export async function firstCore(bytes) {
  const imports = {
    // What is left of an operating system: a broken invariant ends the program, and there is no file to write to.
    wasi_snapshot_preview1: {
      proc_exit: (status) => {
        throw new Error(`the core stopped (${status})`);
      },
      fd_write: () => 0,
      fd_close: () => 0,
      fd_seek: () => 0,
    },
    env: { emscripten_notify_memory_growth: () => {} },
  };
  const { instance } = await WebAssembly.instantiate(bytes ?? (await fetched()), imports);
  const core = instance.exports;
  core._initialize?.();
  const written = new TextEncoder();
  const read = new TextDecoder();
  const call = (verb) => (text) => {
    const asked = written.encode(text ?? '');
    const place = core.room(asked.length);
    new Uint8Array(core.memory.buffer, place, asked.length).set(asked);
    core[verb]();
    return read.decode(new Uint8Array(core.memory.buffer, core.answerText(), core.answerSize()));
  };
  return Object.fromEntries(FIRST.map((verb) => [verb, call(verb)]));
}

export const wholeCore = async () => (await import('../wasm/slipstick.js')).default();

// Whether the first module may have the answer: it explains nothing, and of a wrong request it answers an empty text.
export const isFirst = (verb, args) => FIRST.includes(verb) && !(verb === 'evaluate' && args[1]);
