// Callers with tokens, and members that need scopes.
import { setImmediate as turn } from 'node:timers/promises';

import { Context, type McpServerOptions, NoInput, type Principal, Tool } from '@decorum/core';
import type { Auth } from '@decorum/http';

import { afterwards, type Fields } from '../../packages/http/test/fixture.js';
import { Everything, type Served, serveOn } from './contract.js';
import type { HostOptions, HttpHost } from './hosts.js';

/** The scope that every request needs. */
export const BASE = 'mcp';

/** The headers of a caller. The token contains the principal as plain JSON. */
export function as(principal: Partial<Principal> = {}): Fields {
  const text = JSON.stringify({ subject: 'ann', scopes: [BASE], ...principal });
  return { authorization: `Bearer ${Buffer.from(text).toString('base64url')}` };
}

export const ANN = as();
export const BOB = as({ subject: 'bob' });
export const WRITER = as({ scopes: [BASE, 'files:write'] });
export const BAD = { authorization: 'Bearer bad' };

const invalidToken = { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };

/** Trusts the tokens of `as`. */
export const AUTH: Auth = {
  scopes: [BASE],
  async authenticate({ authorizations }) {
    // simulates a remote token lookup, during which the body arrives
    await turn();
    const [authorization] = authorizations;
    if (authorization === undefined) return undefined;
    if (authorizations.length > 1 || authorization.includes(','))
      return { status: 400, headers: { 'www-authenticate': 'Bearer error="invalid_request"' } };
    try {
      return JSON.parse(Buffer.from(authorization.slice('Bearer '.length), 'base64url').toString()) as Principal;
    } catch {
      return invalidToken;
    }
  },
};

/** Members that need scopes. */
export class Files extends Everything {
  /** The members that ran, in order. */
  readonly ran: string[] = [];

  @Tool({ description: 'Lists files' })
  list() {
    return this.note('list');
  }

  @Tool({ description: 'Writes a file', scopes: ['files:write'], aliases: ['put'] })
  write() {
    return this.note('write');
  }

  @Tool({ description: 'Deletes all files', scopes: ['files:write', 'files:admin'] })
  purge() {
    return this.note('purge');
  }

  @Tool({
    description: 'Writes a file, after it was asked who may',
    scopes: ['files:write'],
    async access(_principal, _transport) {
      await gate.opened;
      return true;
    },
  })
  guarded() {
    return this.note('guarded');
  }

  @Tool({ description: 'Needs a scope that depends on its arguments' })
  async project(_input: NoInput, ctx: Context) {
    await turn();
    ctx.requireScopes('project:7');
    return this.note('project');
  }

  @Tool({ description: 'Sends something first' })
  async late(_input: NoInput, ctx: Context) {
    ctx.progress(1);
    await turn();
    ctx.requireScopes('project:7');
    return this.note('late');
  }

  note(name: string): string {
    this.ran.push(name);
    return name;
  }
}

/** The same members, and one that is public. */
export class PublicFiles extends Files {
  @Tool({ description: 'About this server', public: true })
  about() {
    return this.note('about');
  }
}

/** Holds up the access function of `guarded`. */
const gate = { opened: Promise.resolve() };

/** Holds up the access function of `guarded` until the returned function is called, or until the end of the test. */
export function shut(): () => void {
  let open = () => {};
  gate.opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  afterwards(open);
  return open;
}

export interface ServedFiles extends Served {
  readonly files: Files;
  /** The lines of the server's log. */
  readonly log: string[];
}

/** Serves members with scopes on a host. */
export async function serveFiles(
  host: HttpHost,
  options: HostOptions = {},
  files: Files = new Files(),
  more: Partial<McpServerOptions> = {},
): Promise<ServedFiles> {
  const log: string[] = [];
  const write = (details: unknown, text: unknown) => void log.push(`${JSON.stringify(details)} ${String(text)}`);
  const logger = { warn: write, error: write };
  const served = await serveOn(host, { auth: AUTH, ...options }, { providers: [files], logger, ...more });
  afterwards(() => void files.emit('go'));
  return { ...served, probe: files, files, log };
}
