// The built site, or any folders, behind a small server.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';

export const SITE = fileURLToPath(new URL('../../build/site/', import.meta.url));

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};

// `folders`: the folder behind each path, which may change while served; `headers`: for every answer; `onsend(path)`:
// called for each file sent, but not for one that the browser has cached; `compressed`: with gzip, as hosts send it.
export function serveSite({ folders = { '/': SITE }, headers = {}, onsend = () => {}, compressed = false } = {}) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(request.url.split('?')[0])).replace(/\/$/, '/index.html');
    const under = Object.keys(folders).find((one) => path.startsWith(one));
    const folder = folders[under];
    const file = under && join(folder, path.slice(under.length));
    if (!file?.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    const { size, mtimeMs } = statSync(file);
    const etag = `"${size}-${mtimeMs}"`;
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag, ...headers }).end();
      return;
    }
    onsend(path);
    const encoding = compressed ? { 'content-encoding': 'gzip' } : {};
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, etag, ...encoding, ...headers });
    const content = createReadStream(file);
    (compressed ? content.pipe(createGzip()) : content).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
