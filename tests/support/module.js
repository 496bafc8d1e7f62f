// The built module under Node, loaded as the page does, and the built command line.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { useNewest } from '../../web/state/scenario.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const GLUE = ROOT + 'build/site/wasm/slipstick.js';
export const WASM = ROOT + 'build/site/wasm/slipstick.wasm';

/** The module, its memory and its WebAssembly exports; requests start from the newest default scenario, as the page's do. */
export async function loadSlipstick() {
  const compiled = new WebAssembly.Module(readFileSync(WASM));
  let memory, exported;
  const { default: createSlipstick } = await import(pathToFileURL(GLUE).href);
  const slipstick = await createSlipstick({
    instantiateWasm(imports, done) {
      const instance = new WebAssembly.Instance(compiled, imports);
      exported = instance.exports;
      memory = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
      done(instance, compiled);
      return instance.exports;
    },
  });
  useNewest(JSON.parse(slipstick.describe()).defaults);
  return { slipstick, compiled, memory, exported };
}

/** The command line's answer to arguments, as text. A wrong request exits with 2 and still answers. */
export function slipstickCommand(args, input = '') {
  try {
    return execFileSync(ROOT + 'build/native/slipstick', args, {
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  } catch (error) {
    if (error.status === 2) return error.stdout;
    throw error;
  }
}
