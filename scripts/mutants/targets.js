/**
 * The files whose mutants must be killed, each with the tests that do it, those most likely to fail first. A test file
 * costs a few seconds, so list only those that are about the file.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const TARGETS = {
  'packages/core/src/kernel/flows.ts': [
    'packages/core/test/kernel/sealed.test.ts',
    'packages/core/test/kernel/replay.test.ts',
  ],
  'packages/core/src/protocol/eras/replay.ts': [
    'packages/core/test/kernel/replay.test.ts',
    'packages/core/test/kernel/effects.test.ts',
    'packages/core/test/kernel/question-loops.test.ts',
    'test/revisions/rounds.test.ts',
  ],
  'packages/core/src/protocol/exchange.ts': [
    'packages/core/test/kernel/exchange.test.ts',
    'packages/core/test/kernel/conversation.test.ts',
    'packages/core/test/kernel/replay.test.ts',
    'packages/core/test/kernel/first-turn.test.ts',
    'packages/core/test/kernel/effects.test.ts',
    'packages/core/test/kernel/question-loops.test.ts',
    'test/revisions/kept.test.ts',
    'packages/http/test/no-sessions.test.ts',
    'packages/http/test/disconnect.test.ts',
    'packages/http/test/headers.test.ts',
  ],
  'packages/http/src/headers.ts': [
    'packages/http/test/headers.test.ts',
    'packages/http/test/params.test.ts',
    'packages/http/test/post.test.ts',
    'packages/http/test/node-handler.test.ts',
    'packages/http/test/fetch-handler.test.ts',
  ],
  'packages/http/src/guard.ts': ['packages/http/test/guard.test.ts', 'packages/http/test/allowed.test.ts'],
  'packages/http/src/exchange.ts': [
    'packages/http/test/exchange.test.ts',
    'packages/http/test/keep-alive.test.ts',
    'packages/http/test/denied.test.ts',
    'packages/http/test/headers.test.ts',
    'packages/http/test/params.test.ts',
    'packages/http/test/limits.test.ts',
    'packages/http/test/buffer-limits.test.ts',
    'packages/http/test/listen-streams.test.ts',
    'packages/http/test/stores.test.ts',
    'packages/http/test/close.test.ts',
    'packages/http/test/resume.test.ts',
    'packages/http/test/sessions.test.ts',
    'packages/http/test/post.test.ts',
    'packages/http/test/no-sessions.test.ts',
    'packages/http/test/disconnect.test.ts',
    'packages/http/test/fetch-handler.test.ts',
  ],
  'packages/http/src/sessions.ts': [
    'packages/http/test/session-quotas.test.ts',
    'packages/http/test/stores.test.ts',
    'packages/http/test/sessions.test.ts',
    'packages/http/test/exchange.test.ts',
    'packages/http/test/no-sessions.test.ts',
    'packages/http/test/close.test.ts',
    'packages/http/test/streams.test.ts',
  ],
  'packages/core/src/kernel/judge.ts': [
    'test/revisions/scopes.test.ts',
    'test/revisions/scopes-at-run-time.test.ts',
    'packages/core/test/kernel/access.test.ts',
  ],
  'packages/core/src/protocol/scopes.ts': [
    'test/revisions/scopes.test.ts',
    'test/revisions/scopes-at-run-time.test.ts',
    'packages/core/test/registry/scopes.test.ts',
  ],
  'packages/auth/src/jwt.ts': ['packages/auth/test/jwt.test.ts', 'packages/auth/test/key-set.test.ts'],
  'packages/auth/src/claims.ts': ['packages/auth/test/jwt.test.ts', 'packages/auth/test/presets.test.ts'],
  'packages/auth/src/introspection.ts': ['packages/auth/test/introspection.test.ts'],
  'packages/auth/src/verifier.ts': [
    'packages/auth/test/credentials.test.ts',
    'packages/auth/test/introspection.test.ts',
    'packages/auth/test/key-set.test.ts',
    'packages/auth/test/events.test.ts',
  ],
};
