/** The revisions of the protocol. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

/** A revision of the protocol. */
export type Revision = (typeof REVISIONS)[number];

/** The revision without sessions. */
export const STATELESS: Revision = '2026-07-28';
/** The revision with batches. */
export const BATCHES: Revision = '2025-03-26';

/** Parameters or result of a message. */
export type Members = Readonly<Record<string, unknown>>;

/** A JSON-RPC message. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Members;
  readonly result?: Members;
  readonly error?: { readonly code: number; readonly message: string };
}

const CLIENT = { name: 'soak', version: '1.0.0' };
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };
const META = 'io.modelcontextprotocol/';

/** Parameters of `initialize`. */
export const helloOf = (revision: Revision): Members => ({
  protocolVersion: revision,
  capabilities: CAPABILITIES,
  clientInfo: CLIENT,
});

/** The `_meta` of a request in the stateless revision. */
export const ENVELOPE: Members = {
  [`${META}protocolVersion`]: STATELESS,
  [`${META}clientInfo`]: CLIENT,
  [`${META}clientCapabilities`]: CAPABILITIES,
  [`${META}logLevel`]: 'debug',
};

/** The client's answer to a question. It tells the server which client has answered. */
export function answerTo(method: string, who: string): Members {
  if (method === 'elicitation/create') return { action: 'accept', content: { name: who } };
  if (method === 'roots/list') return { roots: [{ uri: `file:///${who}` }] };
  if (method === 'sampling/createMessage') {
    return { role: 'assistant', model: 'soak', content: { type: 'text', text: who } };
  }
  throw new Error(`The server asked with the unknown method "${method}".`);
}

/** The text of a tool's result. */
export function textOf({ result }: Message): string | undefined {
  return (result?.['content'] as { readonly text?: string }[] | undefined)?.[0]?.text;
}

/** The beginning of a message, for a failure. */
export const excerpt = (message: unknown): string => JSON.stringify(message)?.slice(0, 300) ?? 'nothing';
