import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

it('handlers that contradict their schemas do not compile, and those that fit do', () => {
  const compile = () =>
    execFileSync(process.execPath, ['node_modules/ts7/bin/tsc', '-p', 'packages/core/test/types'], {
      cwd: root,
      encoding: 'utf8',
    });
  expect(compile()).toBe('');
});
