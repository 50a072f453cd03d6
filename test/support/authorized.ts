// A transport that knows its callers, as HTTP with `auth` does.
import { HOST, type Wire, type Transport } from '@decorum/core/transport';

import type { RawTransport } from './raw-client.js';

/** An in-memory transport that requires `scopes` for every request. Callers may be anonymous. */
export const overAuthorized =
  (...scopes: readonly string[]): RawTransport =>
  async (server, receive, { principal }) =>
    await server[HOST].open((kernel) => {
      const push = ({ text }: { readonly text: string }) => receive(text);
      const session = kernel.openSession({ principal }, { push });
      const line = {
        async send(text: string) {
          const { text: reply } = await kernel.handle(JSON.parse(text), wire, session);
          if (reply !== undefined) receive(reply);
        },
        stop: () => kernel.inFlight.stop(line),
        close: () => kernel.closeSession(session),
      } satisfies Transport & Awaited<ReturnType<RawTransport>>;
      const wire: Wire = {
        transport: { kind: 'memory' },
        principal,
        authorization: { scopes },
        owner: line,
        send: push,
      };
      return line;
    });
