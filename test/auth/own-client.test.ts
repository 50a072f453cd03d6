// Our own client against a server that is its own authorization server.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, finishAuthorization } from '@decorum/client';

import { freePort } from '../support/dev-project.js';
import { Program } from './processes.js';
import { CALLBACK, consent, User } from './user.js';

const ALICE = { name: 'alice', password: 'correct horse' };

let server: Program;
beforeAll(async () => {
  const env = { SECURED_PASSWORD: ALICE.password, PORT: String(await freePort()) };
  server = await Program.start('../../examples/secured/dist/embedded.js', [], env);
});
afterAll(async () => await server.stop());

const open: Client[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

async function clientOf(options: ClientOptions): Promise<Client> {
  const client = await connectClient(server.url, options);
  open.push(client);
  return client;
}

/** Waits until the user is back. */
class Patient extends User {
  constructor() {
    super(undefined, undefined, ALICE);
  }

  override async redirectToAuthorization(url: URL): Promise<never> {
    this.asked.push(url.searchParams.get('scope'));
    return (await consent(url, ALICE)) as never;
  }

  state(): string {
    return 'a state';
  }
}

const whoami = async (client: Client): Promise<unknown> => {
  const { content } = await client.callTool('whoami');
  return JSON.parse((content[0] as { text: string }).text);
};

describe('a client with an OAuth provider', () => {
  it('signs in when a call needs it, asks for more scopes, and refreshes its token', async () => {
    const user = new Patient();
    const client = await clientOf({ authProvider: user });
    expect(user.tokens()).toBeUndefined();
    expect(await whoami(client)).toMatchObject({ subject: 'alice', scopes: ['mcp'] });
    const { content } = await client.callTool('notes_write');
    expect(content).toMatchObject([{ text: 'alice may write notes.' }]);
    expect(user.asked).toEqual(['mcp', 'mcp notes:write']);
    const visits = user.asked.length;
    user.saveTokens({ ...user.tokens(), access_token: 'stale' });
    const callers = await Promise.all(Array.from({ length: 5 }, async () => await whoami(client)));
    expect(callers[4]).toMatchObject({ subject: 'alice' });
    expect(user.tokens()?.access_token).not.toBe('stale');
    expect(user.asked).toHaveLength(visits);
  });

  it('goes on after a sign-in elsewhere', async () => {
    const user = new User(undefined, undefined, ALICE);
    const client = await clientOf({ authProvider: user });
    await expect(whoami(client)).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
    await finishAuthorization(server.url, user, new URL(`${CALLBACK}?${user.callback}`));
    expect(await whoami(client)).toMatchObject({ subject: 'alice' });
  });

  it('refuses a browser that comes back with another state or from another issuer', async () => {
    class Forged extends Patient {
      constructor(private readonly params: Record<string, string>) {
        super();
      }

      override async redirectToAuthorization(): Promise<never> {
        return new URL(`${CALLBACK}?${new URLSearchParams({ code: 'c', ...this.params })}`) as never;
      }
    }
    const issuer = new URL(server.url).origin;
    for (const params of [
      { state: 'b', iss: issuer },
      { state: 'a state', iss: 'https://evil.example' },
    ]) {
      const client = await clientOf({ authProvider: new Forged(params) });
      await expect(whoami(client)).rejects.toMatchObject({ code: 'unauthorized' });
    }
  });
});

describe('a client with an `authorization` callback', () => {
  it('is asked again with what the server demands, and gives up if there is no other token', async () => {
    const user = new Patient();
    await whoami(await clientOf({ authProvider: user }));
    const challenges: unknown[] = [];
    const tokens = [undefined, user.tokens()?.access_token];
    const client = await clientOf({
      authorization(challenge) {
        challenges.push(challenge && [challenge.status, challenge.scheme, challenge.params['error']]);
        return tokens.shift();
      },
    });
    expect(await whoami(client)).toMatchObject({ subject: 'alice' });
    await expect(client.callTool('notes_write')).rejects.toMatchObject({ code: 'unauthorized', status: 403 });
    expect(challenges).toEqual([undefined, [401, 'bearer', undefined], [403, 'bearer', 'insufficient_scope']]);
  });
});
