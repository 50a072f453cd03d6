// An issuer, an attacker's issuer, and a server that trusts the first issuer's tokens.
import { afterAll, beforeAll } from '@jest/globals';
import { type OAuthOptions, oauth } from '@decorum/auth';

import type { Fields } from '../../packages/http/test/fixture.js';
import { serveFiles, type ServedFiles } from '../http-contract/auth-fixture.js';
import type { HttpHost } from '../http-contract/hosts.js';
import { HostileIssuer, type Signing } from './hostile-issuer.js';

export const AUDIENCE = 'https://mcp.example.com/mcp';

/** The issuers of a test file. */
export class Issuers {
  /** The issuer that the server trusts. */
  trusted!: HostileIssuer;
  /** The attacker's issuer. Its keys have the same ids. */
  evil!: HostileIssuer;

  constructor() {
    beforeAll(async () => {
      [this.trusted, this.evil] = await Promise.all([HostileIssuer.open(), HostileIssuer.open()]);
    });
    afterAll(async () => {
      await Promise.all([this.trusted.stop(), this.evil.stop()]);
    });
  }

  /** A token for the server. */
  sign(claims: object = {}, signing: Signing = {}): string {
    return this.trusted.sign({ aud: AUDIENCE, scope: 'mcp', ...claims }, signing);
  }

  /** The headers of a user. */
  as(subject: string, claims: object = {}): Fields {
    return bearer(this.sign({ sub: subject, ...claims }));
  }

  /** Serves tools, until the end of the test. */
  async serve(host: HttpHost, options: Partial<OAuthOptions> = {}): Promise<ServedFiles> {
    const issuer = this.trusted.url;
    const auth = oauth({ issuer, audience: AUDIENCE, scopes: ['mcp'], allowLoopbackHttp: true, ...options });
    return await serveFiles(host, { auth, legacySse: true });
  }
}

/** The headers of a caller with this token. */
export const bearer = (token: string): Fields => ({ authorization: `Bearer ${token}` });
