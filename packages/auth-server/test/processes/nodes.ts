import { McpServer, NoInput } from '@decorum/core';
import { listen } from '@decorum/http';

import { AuthorizationServer } from '../../src/authorization-server.js';
import type { AuthorizationServerOptions } from '../../src/options.js';
import { PLATFORM } from '../../src/server-platform.js';
import type { AuthStore } from '../../src/store/auth-store.js';
import type { AuthEvent } from '@decorum/auth';
import { afterwards } from '../fixture-store.js';
import { freePort } from './server-process.js';

/** A server of an issuer that others serve, too. */
export interface Node {
  readonly origin: string;
  readonly events: readonly AuthEvent[];
}

/** Starts servers of one issuer. The first is at the issuer's URL. */
export async function startNodes(
  stores: readonly AuthStore[],
  options: Partial<AuthorizationServerOptions> = {},
): Promise<Node[]> {
  const ports = await Promise.all(stores.map(() => freePort()));
  const resource = `http://127.0.0.1:${ports[0]}/mcp`;
  const env = { DECORUM_SECRET: 'a secret of more than 32 characters' };
  return await Promise.all(
    stores.map(async (store, n) => {
      const events: AuthEvent[] = [];
      const settings: AuthorizationServerOptions = {
        resource,
        scopes: ['mcp'],
        consent: { mcp: 'Use this server' },
        allowLoopbackHttp: true,
        users: {
          verify: async (name, password) => (password === 'secret' ? { subject: name } : undefined),
          find: async (subject) => ({ subject }),
        },
        store,
        trustProxy: true,
        onEvent: (event) => events.push(event),
        ...options,
      };
      const auth = new AuthorizationServer(settings, { ...PLATFORM, env });
      const server = new McpServer({ name: 'node', version: '1.0.0', logger: { warn() {}, error() {} } });
      server.addTool({ name: 'hello', input: NoInput }, () => 'hello');
      const { close } = await listen(server, { auth, port: ports[n] as number, signals: false });
      afterwards(close);
      return { origin: `http://127.0.0.1:${ports[n]}`, events };
    }),
  );
}
