import { FAILURES } from '../errors.js';
import { methodsOf } from '../methods.js';
import type { JsonObject } from '../model.js';
import { allowed, allowList, allowOnly } from './allow-list.js';
import { FIELDS_20260728 } from './model-fields.js';
import type { Revision } from './revision.js';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Whether only the specification can say what a number means. */
const isReserved = (code: number): boolean => code >= -32099 && code <= -32000;

/** Of older revisions, for a handler that writes the number out. */
const RESOURCE_NOT_FOUND = -32002;

const verbatim = (value: object): JsonObject => value as JsonObject;

const list = allowList(FIELDS_20260728);

/** Revision 2026-07-28: stateless. The neutral model is shaped like it, so nearly everything is sent as it is. */
export const revision20260728: Revision = allowOnly(list, {
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
  toolResult: (result) => verbatim(allowed(result, list.toolResult)),
  promptResult: verbatim,
  readResult: verbatim,
  complete(result, server, cache) {
    const { name, version } = server;
    // who wants to know more asks for it
    const identity = 'supportedVersions' in result ? allowed(server, list.implementation) : { name, version };
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
  question({ method, params }) {
    if (method === 'ping') return undefined;
    const { elicitationId: _sessionsOnly, ...known } = params;
    return { params: known };
  },
  capabilities: verbatim,
  implementation: verbatim,
  errorCode({ kind, code }) {
    if (kind === 'url-elicitation-required') return undefined;
    if (code === RESOURCE_NOT_FOUND) return FAILURES['unknown-resource'];
    return kind === undefined && isReserved(code) ? undefined : code;
  },
});
