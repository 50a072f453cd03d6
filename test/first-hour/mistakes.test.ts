// What people get wrong in their first hour. None of it is silent: each row says where, and ends with what to write.
//
// What needs compilers and bundlers of its own is tested elsewhere: missing class-validator and class-transformer in
// test/packaging/optional-peers.test.ts, types that were lost to the order of imports in
// packages/core/test/schema/lost-types.test.ts, a tsconfig without flags in
// packages/core/test/registry/mistaken-schemas.test.ts, standard decorators in
// packages/core/test/decorators/misused.tc39.test.ts, and stdout in packages/core/test/transports/stdio-process.test.ts.
import { describe, expect, it } from '@jest/globals';

import { ARGUMENTS, PLACES } from './decorator-mistakes.js';
import { PROVIDERS, SERVERS } from './server-mistakes.js';
import { INPUTS, SCHEMAS } from './schema-mistakes.js';
import type { Mistake } from './table.js';
import { TRANSPORTS } from './transport-mistakes.js';

describe.each<readonly [string, readonly Mistake[]]>([
  ['a decorator in the wrong place', PLACES],
  ['a wrong argument of a decorator', ARGUMENTS],
  ['a parameter that gives no input', INPUTS],
  ['a wrong schema', SCHEMAS],
  ['a wrong option of a server', SERVERS],
  ['a wrong provider', PROVIDERS],
  ['a transport that cannot be opened', TRANSPORTS],
])('%s fails at startup, and the error says where it is and what to write:', (_kind, rows) => {
  it.each(rows)('%s', async (_wrote, run, code, where, remedy) => {
    const started = (async () => await run())();
    const error: unknown = await started.then(
      () => 'nothing failed',
      (failure: unknown) => failure,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(where) });
    expect(error).toMatchObject({ message: expect.stringContaining(`${remedy}. [${code}]`) });
  });
});
