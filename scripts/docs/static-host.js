/** A static host without any cleverness: files, and the `index.html` of folders. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Serves a folder, compressed, until it is closed.
 * @param {string} folder
 * @param {string} base the path of the folder, such as `/decorum/`
 * @returns {Promise<{ origin: string, sent: () => number, close: () => void }>} `sent` counts the bytes of bodies
 */
export function serveFolder(folder, base) {
  let bytes = 0;
  const server = createServer((request, response) => {
    const path = decodeURI(new URL(request.url ?? '/', 'http://site').pathname);
    const inside = normalize(path).startsWith(base) ? path.slice(base.length) : 'outside';
    const file = inside === '' || inside.endsWith('/') ? `${inside}index.html` : inside;
    try {
      const body = gzipSync(readFileSync(join(folder, file)));
      bytes += body.length;
      response.writeHead(200, { 'content-type': TYPES[extname(file)], 'content-encoding': 'gzip' }).end(body);
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
    }
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      resolve({
        origin: `http://127.0.0.1:${port}`,
        sent: () => bytes,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}
