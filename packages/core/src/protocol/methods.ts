/** What a server needs to have before a method exists on it. */
export type Feature = 'tools' | 'prompts' | 'resources' | 'completions';

/** Everything that is true of a request method, whoever handles it. */
export interface MethodTraits {
  /** Only revisions with sessions have it, or only those without; by default both. */
  readonly sessions?: boolean;
  /** Exists only on servers that have something for it. */
  readonly needs?: Feature;
  /** The param that names what the request is about; `Mcp-Name` mirrors it. */
  readonly subject?: 'name' | 'uri';
  /** Its handlers may ask the client, also where that takes several rounds. */
  readonly asks?: boolean;
  /** Its effect outlives the request, so it needs a session that does too. */
  readonly remembers?: boolean;
  /** Allowed before a conversation has begun. */
  readonly early?: boolean;
}

/** The request that begins a conversation: it comes by itself, and is not cancelled. */
export const INITIALIZE = 'initialize';

const METHODS: Readonly<Record<string, MethodTraits>> = {
  [INITIALIZE]: { sessions: true, early: true },
  ping: { sessions: true, early: true },
  'logging/setLevel': { sessions: true, remembers: true },
  'server/discover': { sessions: false },
  'tools/list': { needs: 'tools' },
  'tools/call': { needs: 'tools', subject: 'name', asks: true },
  'prompts/list': { needs: 'prompts' },
  'prompts/get': { needs: 'prompts', subject: 'name', asks: true },
  'resources/list': { needs: 'resources' },
  'resources/templates/list': { needs: 'resources' },
  'resources/read': { needs: 'resources', subject: 'uri', asks: true },
  'resources/subscribe': { sessions: true, needs: 'resources', remembers: true },
  'resources/unsubscribe': { sessions: true, needs: 'resources', remembers: true },
  'completion/complete': { needs: 'completions' },
  'subscriptions/listen': { sessions: false },
};

/** The request methods of the specification, for revisions with sessions or for those without. */
export function methodsOf(sessions: boolean): ReadonlyMap<string, MethodTraits> {
  return new Map(Object.entries(METHODS).filter(([, traits]) => (traits.sessions ?? sessions) === sessions));
}

/** Whether a message begins a conversation. */
export function beginsConversation(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'method' in message && message.method === INITIALIZE;
}
