/**
 * The files whose mutants must be killed, each with the tests that must kill them, most likely first. Each test file
 * takes a few seconds, so list only tests that are about the file.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const TARGETS = {
  'packages/core/src/kernel/request-states.ts': [
    'packages/core/test/kernel/replay.test.ts',
    'test/revisions/every-round.test.ts',
    'test/revisions/rounds.test.ts',
  ],
  'packages/core/src/protocol/eras/replay.ts': [
    'packages/core/test/kernel/replay.test.ts',
    'packages/core/test/kernel/effects.test.ts',
    'packages/core/test/kernel/questions.test.ts',
    'test/revisions/every-round.test.ts',
    'test/revisions/rounds.test.ts',
  ],
  'packages/core/src/protocol/exchange.ts': [
    'packages/core/test/kernel/exchange.test.ts',
    'packages/core/test/kernel/replay.test.ts',
    'packages/core/test/kernel/dispatch.test.ts',
    'packages/core/test/kernel/effects.test.ts',
    'packages/core/test/kernel/questions.test.ts',
    'test/revisions/quotas.test.ts',
    'packages/http/test/exchange.test.ts',
    'packages/http/test/plugin.test.ts',
    'packages/http/test/leaks.test.ts',
  ],
  'packages/http/src/endpoint/headers.ts': [
    'packages/http/test/exchange.test.ts',
    'test/http-contract/headers.test.ts',
    'packages/http/test/node-handler.test.ts',
    'packages/http/test/fetch-handler.test.ts',
    'test/http-contract/statuses.test.ts',
  ],
  'packages/http/src/endpoint/guard.ts': ['packages/http/test/guard.test.ts'],
  'packages/http/src/exchange/post-exchange.ts': [
    'packages/http/test/exchange.test.ts',
    'packages/http/test/close.test.ts',
    'packages/http/test/limits.test.ts',
    'packages/http/test/stores.test.ts',
    'packages/http/test/resume.test.ts',
    'packages/http/test/sessions.test.ts',
    'packages/http/test/plugin.test.ts',
    'packages/http/test/fetch-handler.test.ts',
    'packages/http/test/leaks.test.ts',
    'test/http-contract/headers.test.ts',
    'test/http-contract/statuses.test.ts',
    'test/http-contract/messages.test.ts',
    'test/http-contract/auth.test.ts',
  ],
  'packages/http/src/exchange/post.ts': [
    'test/http-contract/auth.test.ts',
    'packages/http/test/exchange.test.ts',
    'packages/http/test/limits.test.ts',
    'test/http-contract/legacy-sse.test.ts',
  ],
  'packages/http/src/sessions/sessions.ts': [
    'packages/http/test/sessions.test.ts',
    'packages/http/test/stores.test.ts',
    'packages/http/test/adoption.test.ts',
    'packages/http/test/exchange.test.ts',
    'packages/http/test/close.test.ts',
    'test/http-contract/sessions.test.ts',
    'test/http-contract/resume.test.ts',
  ],
  'packages/core/src/protocol/scopes.ts': [
    'test/revisions/scopes.test.ts',
    'packages/core/test/registry/scopes.test.ts',
    'test/http-contract/auth.test.ts',
  ],
  'packages/auth/src/jwt.ts': ['packages/auth/test/jwt.test.ts', 'packages/auth/test/key-set.test.ts'],
  'packages/auth/src/claims.ts': [
    'packages/auth/test/jwt.test.ts',
    'packages/auth/test/presets.test.ts',
    'packages/auth/test/misconfiguration.test.ts',
  ],
  'packages/auth/src/introspection.ts': [
    'packages/auth/test/introspection.test.ts',
    'packages/auth/test/misconfiguration.test.ts',
  ],
  'packages/auth/src/verifier.ts': [
    'packages/auth/test/credentials.test.ts',
    'packages/auth/test/introspection.test.ts',
    'packages/auth/test/key-set.test.ts',
    'packages/auth/test/events.test.ts',
    'packages/auth/test/jwt.test.ts',
    'packages/auth/test/misconfiguration.test.ts',
    'packages/auth/test/exchange.test.ts',
  ],
};
