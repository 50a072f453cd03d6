/** `npm run check:packages`: packs each package as npm would, and checks its metadata, files and types. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, run } from './workspace.js';

for (const name of readdirSync(join(ROOT, 'packages'))) {
  const folder = join('packages', name);
  // programs are ES modules only; libraries can also be required
  const profile = existsSync(join(ROOT, folder, 'bin')) ? 'esm-only' : 'node16';
  const checks = [
    ['publint', 'run', '--strict', '--pack', 'npm', folder],
    ['attw', '--profile', profile, '--quiet', '--pack', folder],
  ];
  for (const [program = '', ...args] of checks) {
    if ((await run(join(ROOT, 'node_modules/.bin', program), args)) === 0) continue;
    process.stderr.write(`${program} rejects ${folder}.\n`);
    process.exit(1);
  }
}
