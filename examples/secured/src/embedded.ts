import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { authorizationServer, type User, type UserDirectory } from '@decorum/auth-server';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { listen } from '@decorum/http';

class Notes {
  @Tool({ description: 'Tells what this server is for', public: true, annotations: { readOnlyHint: true } })
  about() {
    return 'This server shows how to sign in. Only this tool needs no token.';
  }

  @Tool({ description: 'Returns the caller as JSON', annotations: { readOnlyHint: true } })
  whoami(_input: NoInput, { principal }: Context) {
    return JSON.stringify(principal);
  }

  @Tool({ name: 'notes_write', description: 'Needs the scope notes:write', scopes: ['notes:write'] })
  write(_input: NoInput, { principal }: Context) {
    return `${principal?.subject} may write notes.`;
  }

  @Tool({ name: 'admin_only', description: 'Needs the scope admin, which only alice can grant', scopes: ['admin'] })
  administer(_input: NoInput, { principal }: Context) {
    return `${principal?.subject} may.`;
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Users who share a password. People choose weak passwords, which need a slow hash: use `usersFile` for them. */
class DemoUsers implements UserDirectory {
  private readonly users = new Map<string, User>([
    ['alice', { subject: 'alice' }],
    ['bob', { subject: 'bob', scopes: ['mcp', 'notes:write'] }],
  ]);

  constructor(private readonly password: string) {}

  async verify(name: string, password: string) {
    return timingSafeEqual(digestOf(password), digestOf(this.password)) ? this.users.get(name) : undefined;
  }

  async find(subject: string) {
    return this.users.get(subject);
  }
}

const port = Number(process.env['PORT'] || 3000);
const { SECURED_PASSWORD: password = randomBytes(9).toString('base64url') } = process.env;

const auth = authorizationServer({
  resource: `http://127.0.0.1:${port}/mcp`,
  scopes: ['mcp'],
  consent: { mcp: 'Use this server', 'notes:write': 'Change your notes', admin: 'Administer this server' },
  users: new DemoUsers(password),
  // allows http on this machine, for the example
  allowLoopbackHttp: true,
  onEvent: (event) => console.error(JSON.stringify(event)),
});
const server = new McpServer({ name: 'secured', version: '1.0.0', providers: [Notes] });
const { url } = await listen(server, { auth, port });
console.log(`Serving ${url}`);
console.log(`Sign in as alice or bob, with the password ${password}`);
console.log(`Try it: claude mcp add --transport http secured ${url}`);
