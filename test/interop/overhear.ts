/** The parts of a message that tests use. */
export interface Heard {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

type Handler = (message: Heard, ...rest: unknown[]) => void;

/**
 * Records the messages that a transport receives. If a response and its progress notifications arrive in the same
 * chunk, SDK clients handle the response first and drop the progress. Only this record has all messages.
 * @param transport a transport of any SDK version, before a client connects with it
 */
export function overhear(transport: object): ReadonlySet<Heard> {
  const heard = new Set<Heard>();
  let deliver: Handler | undefined;
  Object.defineProperty(transport, 'onmessage', {
    get: () => deliver,
    set: (handler: Handler | undefined) => {
      deliver =
        handler &&
        ((message, ...rest) => {
          heard.add(message);
          handler(message, ...rest);
        });
    },
  });
  return heard;
}

/** The values of all progress notifications, by the token of their request. */
export function progressOf(heard: Iterable<Heard>): unknown[][] {
  const byToken = new Map<unknown, unknown[]>();
  for (const { method, params = {} } of heard) {
    if (method !== 'notifications/progress') continue;
    const { progressToken, progress } = params;
    byToken.set(progressToken, [...(byToken.get(progressToken) ?? []), progress]);
  }
  return [...byToken.values()];
}
