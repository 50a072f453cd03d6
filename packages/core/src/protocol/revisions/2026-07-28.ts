import type { JsonObject } from '@decorum/schema/internal';

import { FAILURES } from '../errors.js';
import { methodsOf } from '../methods.js';
import { allowList, allowOnly } from './allow-list.js';
import { verbatim } from './fields.js';
import { FIELDS_20260728 } from './model-fields.js';
import type { Revision } from './revision.js';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Whether a code is reserved for the specification. */
const isReserved = (code: number): boolean => code >= -32099 && code <= -32000;

/** The code in older revisions, which a handler may throw as a number. */
const RESOURCE_NOT_FOUND = -32002;

/** Revision 2026-07-28: stateless. The neutral model follows it, so nearly everything is sent unchanged. */
export const revision20260728: Revision = allowOnly(allowList(FIELDS_20260728), {
  id: '2026-07-28',
  rank: 4,
  era: 'stateless',
  sessions: false,
  methods: methodsOf(false),
  extensions: true,
  batches: false,
  unreadableId: undefined,
  primesStreams: false,
  tool: verbatim,
  prompt: verbatim,
  resource: verbatim,
  resourceTemplate: verbatim,
  toolResult: verbatim,
  sendsObjects: () => true,
  promptResult: verbatim,
  readResult: verbatim,
  complete(result, server, cache) {
    const { name, version } = server;
    // keep the identity in every result short; server/discover returns it in full
    const identity = 'supportedVersions' in result ? revision20260728.implementation(server) : { name, version };
    return {
      resultType: 'complete',
      ...result,
      ...(cache && { ttlMs: cache.ttlMs, cacheScope: cache.scope }),
      _meta: { ...(result['_meta'] as JsonObject | undefined), [SERVER_INFO]: identity },
    };
  },
  resultEnvelope: ({ name, version }) => ({
    before: '{"resultType":"complete",',
    after: `,"_meta":${JSON.stringify({ [SERVER_INFO]: { name, version } })}}`,
  }),
  progressMessages: true,
  sampledKinds: ['text', 'image', 'audio', 'tool_use'],
  question({ method, params }) {
    if (method === 'ping') return undefined;
    const { elicitationId: _sessionsOnly, ...known } = params;
    return { params: known };
  },
  capabilities: verbatim,
  implementation: verbatim,
  errorCode({ kind, code }) {
    if (kind === 'url-elicitation-required') return undefined;
    if (code === RESOURCE_NOT_FOUND) return FAILURES['unknown-resource'].code;
    return kind === undefined && isReserved(code) ? undefined : code;
  },
});
