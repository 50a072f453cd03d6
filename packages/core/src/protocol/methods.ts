/** Features that methods depend on. */
export type Feature = 'tools' | 'prompts' | 'resources' | 'completions';

/** Properties of a request method. */
export interface MethodTraits {
  /** Only for revisions with sessions (`true`) or without (`false`). By default, for both. */
  readonly sessions?: boolean;
  /** Available only on servers with this feature. */
  readonly needs?: Feature;
  /** The param that names the subject of the request, mirrored in `Mcp-Name`. */
  readonly subject?: 'name' | 'uri';
  /** The kind of object that the params name: a member by name or URI, a completion's target, or any resources. */
  readonly names?: 'tool' | 'prompt' | 'resource' | 'target' | 'resources';
  /** Whether its handlers may ask the client. */
  readonly asks?: boolean;
  /** Whether its effect outlives the request, which requires a session. */
  readonly remembers?: boolean;
  /** Whether it is allowed before `initialize`. */
  readonly early?: boolean;
}

/** The request that starts a conversation. It cannot be batched or cancelled. */
export const INITIALIZE = 'initialize';

/** The request that stays open while its stream delivers notifications of changes. */
export const LISTEN = 'subscriptions/listen';

/** The request that calls a tool. */
export const CALL_TOOL = 'tools/call';

const METHODS: Readonly<Record<string, MethodTraits>> = {
  [INITIALIZE]: { sessions: true, early: true },
  ping: { sessions: true, early: true },
  'logging/setLevel': { sessions: true, remembers: true },
  'server/discover': { sessions: false },
  'tools/list': { needs: 'tools' },
  [CALL_TOOL]: { needs: 'tools', names: 'tool', subject: 'name', asks: true },
  'prompts/list': { needs: 'prompts' },
  'prompts/get': { needs: 'prompts', names: 'prompt', subject: 'name', asks: true },
  'resources/list': { needs: 'resources' },
  'resources/templates/list': { needs: 'resources' },
  'resources/read': { needs: 'resources', names: 'resource', subject: 'uri', asks: true },
  'resources/subscribe': { sessions: true, needs: 'resources', names: 'resource', remembers: true },
  'resources/unsubscribe': { sessions: true, needs: 'resources', remembers: true },
  'completion/complete': { needs: 'completions', names: 'target' },
  [LISTEN]: { sessions: false, names: 'resources' },
};

/** The specification's request methods, for revisions with or without sessions. */
export function methodsOf(sessions: boolean): ReadonlyMap<string, MethodTraits> {
  return new Map(Object.entries(METHODS).filter(([, traits]) => (traits.sessions ?? sessions) === sessions));
}

/** Whether a message starts a conversation. */
export function beginsConversation(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'method' in message && message.method === INITIALIZE;
}
