// Browser globals that Node 18 lacks, for tests of the page's modules.
import { Duplex } from 'node:stream';
import { createDeflateRaw, createInflateRaw } from 'node:zlib';

globalThis.CustomEvent ??= class CustomEvent extends Event {
  constructor(type, { detail = null, ...options } = {}) {
    super(type, options);
    this.detail = detail;
  }
};

// Both ends of a raw-deflate stream as web streams.
function provide(name, create) {
  try {
    new globalThis[name]('deflate-raw');
  } catch {
    globalThis[name] = class {
      constructor() {
        return Duplex.toWeb(create());
      }
    };
  }
}
provide('CompressionStream', createDeflateRaw);
provide('DecompressionStream', createInflateRaw);
