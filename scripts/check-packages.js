/** `npm run check:packages`: packs each package as it is published, and checks its metadata, files and types. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

import { ROOT, run } from './workspace.js';

/** How packages are imported; nobody needs the resolution of Node.js 10. Programs are ES modules only. */
const PROGRAM = /** @type {const} */ (['node16-esm', 'bundler']);
const LIBRARY = /** @type {const} */ (['node16-esm', 'node16-cjs', 'bundler']);

/**
 * @param {Uint8Array<ArrayBuffer>} packed
 * @param {readonly import('@arethetypeswrong/core').ResolutionKind[]} resolutions
 * @returns {Promise<string[]>} what is wrong
 */
async function problemsOf(packed, resolutions) {
  const { messages, pkg } = await publint({ pack: { tarball: packed.buffer }, strict: true });
  const analysis = await checkPackage(createPackageFromTarballData(packed));
  if (!analysis.types) return ['It has no types.'];
  const problems = analysis.problems.filter((problem) =>
    resolutions.some((resolution) => problemAffectsResolutionKind(problem, resolution, analysis)),
  );
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`),
    ...problems.map((problem) => `types: ${JSON.stringify(problem)}`),
  ];
}

const packed = mkdtempSync(join(tmpdir(), 'decorum-packed-'));
const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const pack = ['--silent', '--filter', './packages/*', 'pack', '--pack-destination', packed];
let code = await run('npx', ['-y', packageManager, ...pack], { stdio: ['ignore', 'ignore', 'inherit'] });
for (const folder of code === 0 ? readdirSync(join(ROOT, 'packages')) : []) {
  const path = join(ROOT, 'packages', folder);
  const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const file = join(packed, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  // a buffer of its own, without the rest of a pool
  const problems = await problemsOf(
    Uint8Array.from(readFileSync(file)),
    existsSync(join(path, 'bin')) ? PROGRAM : LIBRARY,
  );
  if (problems.length === 0) continue;
  code = 1;
  process.stderr.write(`${name} is not fit to be published:\n  ${problems.join('\n  ')}\n`);
}
rmSync(packed, { recursive: true });
process.exitCode = code;
