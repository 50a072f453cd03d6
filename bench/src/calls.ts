/** How a client talks to a server: in a session, or with self-contained requests. */
export type Era = 'session' | 'stateless';

/** `plain` requests have neither MCP headers nor `_meta`. Only the limit accepts them. */
export type Style = 'plain' | Era;

/** Name of a call. */
export type CallName = 'add' | 'echo' | 'blob' | 'list' | 'progress' | 'listen';

/** One call: its message and the check of its response. */
export interface Call {
  readonly method: string;
  /** Path of the bare route for this call, if it has its own. */
  readonly limitPath?: string;
  /** Whether the response is an event stream that ends. */
  readonly streams?: boolean;
  /** @param client number that distinguishes the calls of several clients */
  params(client: number): Params;
  /** @throws {Error} if the messages are not the right response */
  verify(messages: readonly Message[], client: number): void;
}

type Params = Readonly<Record<string, unknown>> & { readonly name?: string };

/** A JSON-RPC message from a server. */
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly progress?: number };
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[];
    readonly structuredContent?: { readonly sum?: number };
    readonly tools?: readonly { readonly name: string; readonly inputSchema: object }[];
  };
}

export const SESSION_REVISION = '2025-11-25';
export const STATELESS_REVISION = '2026-07-28';
export const CLIENT = { name: 'bench-load', version: '1.0.0' };
export const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': CLIENT,
};
/** Number of progress notifications that one call of `progress` sends. */
export const PROGRESS_STEPS = 1000;
/** The resource that `listen` subscribes to. */
export const FOLLOWED = 'item://7';
const BLOB = 'x'.repeat(1_000_000);
const ORDER_LINES = 50;

const textOf = ({ result }: Message) => result?.content?.[0]?.text;

function requireRight(right: boolean, what: string, messages: readonly Message[]): void {
  if (!right) throw new Error(`wrong response to ${what}: ${JSON.stringify(messages).slice(0, 300)}`);
}

const toolCall = (
  name: string,
  args: (client: number) => object,
  isRight: (answer: Message, client: number) => boolean,
) => ({
  method: 'tools/call',
  params: (client: number) => ({ name, arguments: args(client) }),
  verify: (messages: readonly Message[], client: number) => {
    const last = messages.at(-1);
    const right = last?.id === idOf(client) && isRight(last, client);
    requireRight(right, `${name} ${idOf(client)}`, messages);
  },
});

/** Id of all requests of a client. */
export const idOf = (client: number): number => 1000 + client;

/** All calls. */
export const CALLS: Readonly<Record<CallName, Call>> = {
  add: toolCall(
    'add',
    (client) => ({ a: client, b: 1000 }),
    (answer, client) =>
      textOf(answer) === String(client + 1000) && answer.result?.structuredContent?.sum === client + 1000,
  ),
  echo: toolCall(
    'echo',
    orderOf,
    (answer, client) =>
      // the server may order the members as it likes
      sorted(JSON.parse(textOf(answer) ?? 'null')) === sorted(orderOf(client)),
  ),
  blob: toolCall(
    'blob',
    () => ({ data: BLOB }),
    (answer) => textOf(answer) === String(BLOB.length),
  ),
  list: {
    method: 'tools/list',
    limitPath: '/list',
    params: () => ({}),
    verify: (messages) => requireRight((messages[0]?.result?.tools?.length ?? 0) > 1000, 'tools/list', messages),
  },
  progress: {
    ...toolCall(
      'progress',
      () => ({ n: PROGRESS_STEPS }),
      (answer) => textOf(answer) === 'done',
    ),
    limitPath: '/progress',
    streams: true,
    params: () => ({ name: 'progress', arguments: { n: PROGRESS_STEPS }, _meta: { progressToken: 7 } }),
    verify: (messages) => {
      const steps = messages.filter(({ method }) => method === 'notifications/progress');
      const inOrder = steps.every(({ params }, index) => params?.progress === index + 1);
      const last = messages.at(-1) ?? {};
      requireRight(steps.length === PROGRESS_STEPS && inOrder && textOf(last) === 'done', 'progress', messages);
    },
  },
  listen: {
    method: 'subscriptions/listen',
    limitPath: '/events',
    params: () => ({ notifications: { resourceSubscriptions: [FOLLOWED] } }),
    verify: ([first, ...rest]) => {
      const acknowledged = first?.method === 'notifications/subscriptions/acknowledged';
      requireRight(acknowledged && rest.length === 0, 'subscriptions/listen', [first ?? {}, ...rest]);
    },
  },
};

function orderOf(client: number): object {
  return {
    id: `order-${1000 + client}`,
    createdAt: '2026-11-21T10:00:00.000Z',
    status: 'paid',
    priority: 2,
    gift: false,
    note: 'Leave it with the neighbour, please.',
    currency: 'EUR',
    total: 1234.5,
    tags: ['books', 'fragile', 'returning'],
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', age: 36 },
    address: { street: 'St James Square 12', city: 'London', zip: 'SW1Y 4JH', country: 'GB' },
    items: Array.from({ length: ORDER_LINES }, (_, line) => ({
      sku: `SKU-${10_000 + line}`,
      qty: 1 + (line % 5),
      price: 9.5 + line,
      name: `Volume ${line} of the collected notes`,
    })),
  };
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
