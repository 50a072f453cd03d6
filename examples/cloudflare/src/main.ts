// Runs the Worker on this machine, bundled as wrangler does it.
import { fileURLToPath } from 'node:url';

import { build, stop } from 'esbuild';
import { Miniflare } from 'miniflare';

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('worker.js', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['node:*', 'cloudflare:*'],
});
await stop();

const worker = new Miniflare({
  modules: true,
  script: outputFiles[0]?.text ?? '',
  compatibilityDate: '2026-04-26',
  compatibilityFlags: ['nodejs_compat'],
  host: '127.0.0.1',
  port: Number(process.env['PORT'] || 3000),
});
console.log(`Serving ${new URL('/mcp', await worker.ready).href}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // miniflare's own listener ends this process before the runtime has ended
  process.removeAllListeners(signal);
  process.once(signal, () => worker.dispose());
}
