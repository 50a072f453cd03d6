// A small authorization server for tests. It signs whatever a test asks for, including tokens that a proper one would
// never sign.
import { Buffer } from 'node:buffer';
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A key of the issuer. */
export interface Key {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** The public key as published, with `kid`, `alg` and `use`. */
  readonly jwk: Record<string, unknown>;
}

/** Creates a key for an algorithm. */
export function createKey(alg: string, kid: string): Key {
  const { publicKey, privateKey } = pairFor(alg);
  return { alg, kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } };
}

/** The names of its signatures (RFC 8037, RFC 9864). */
const ED25519 = new Set(['EdDSA', 'Ed25519']);

function pairFor(alg: string) {
  if (ED25519.has(alg)) return generateKeyPairSync('ed25519');
  if (alg.startsWith('ES')) return generateKeyPairSync('ec', { namedCurve: alg === 'ES384' ? 'P-384' : 'P-256' });
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

function signature(alg: string, data: Buffer, key: KeyObject | string): Buffer {
  if (alg === 'none') return Buffer.alloc(0);
  if (typeof key === 'string') return createHmac('sha256', key).update(data).digest();
  if (ED25519.has(alg)) return signBytes(null, data, key);
  const digest = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return signBytes(digest, data, { key, dsaEncoding: 'ieee-p1363' });
  const padding = alg.startsWith('PS') ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  return signBytes(digest, data, { key, padding, ...(alg.startsWith('PS') && { saltLength: 32 }) });
}

/** How to sign a token. */
export interface Signing {
  /** Replaces or adds members of the header. `undefined` removes one. A string replaces the whole header. */
  readonly header?: Readonly<Record<string, unknown>> | string;
  readonly key?: Key;
  /** Signs with HMAC and this secret instead. */
  readonly secret?: string;
}

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An issuer on a local port. */
export class HostileIssuer {
  /** Paths of all requests. */
  readonly requests: string[] = [];
  /** Handlers of requests, by path. */
  readonly handlers = new Map<string, Handler>();
  keys: Key[];
  private port = 0;
  private server: Server | undefined;

  private constructor(
    keys: readonly Key[],
    private readonly path: string,
  ) {
    this.keys = [...keys];
    const metadata: Handler = (_request, response) => sendJson(response, this.metadata);
    this.handlers.set(`/.well-known/oauth-authorization-server${path}`, metadata);
    this.handlers.set(`${path}/jwks`, (_request, response) =>
      sendJson(response, { keys: this.keys.map(({ jwk }) => jwk) }),
    );
  }

  /**
   * Starts an issuer.
   * @param path the issuer's path, such as `/tenant`
   */
  static async open(keys = [createKey('ES256', 'key-1')], path = ''): Promise<HostileIssuer> {
    const issuer = new HostileIssuer(keys, path);
    await issuer.start();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}${this.path}`;
  }

  /** The issuer's metadata (RFC 8414). */
  get metadata(): Record<string, unknown> {
    const { url } = this;
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      introspection_endpoint: `${url}/introspect`,
      jwks_uri: `${url}/jwks`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
  }

  /** Publishes metadata with changes. `undefined` leaves a member out. */
  publish(changes: Readonly<Record<string, unknown>>): void {
    this.handlers.set(`/.well-known/oauth-authorization-server${this.path}`, (_request, response) =>
      sendJson(response, { ...this.metadata, ...changes }),
    );
  }

  /** How often a path was requested. */
  count(path: string): number {
    return this.requests.filter((each) => each === `${this.path}${path}`).length;
  }

  /** Starts listening, on the same port as before. */
  async start(): Promise<void> {
    const server = (this.server = createServer((request, response) => this.answer(request, response)));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
  }

  /** Stops listening. */
  async stop(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /**
   * Signs a token for a server.
   * @param claims replaces or adds claims of a valid token. `undefined` removes one. A string replaces the whole payload
   */
  sign(claims: Readonly<Record<string, unknown>> | string, signing: Signing = {}): string {
    const { key = this.keys[0] as Key, secret, header = {} } = signing;
    const now = Math.floor(Date.now() / 1000);
    const valid = { iss: this.url, sub: 'ada', client_id: 'editor', iat: now, exp: now + 300 };
    const body = typeof claims === 'string' ? claims : { ...valid, ...claims };
    const head = typeof header === 'string' ? header : { typ: 'at+jwt', alg: key.alg, kid: key.kid, ...header };
    const data = `${encode(head)}.${encode(body)}`;
    const alg = typeof head === 'string' ? key.alg : String(head.alg);
    return `${data}.${signature(alg, Buffer.from(data), secret ?? key.privateKey).toString('base64url')}`;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(path);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const handler = this.handlers.get(path);
      if (handler) handler(request, response, Buffer.concat(chunks).toString());
      else response.writeHead(404).end();
    });
  }
}

/** Sends a JSON document. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
