import { Buffer } from 'node:buffer';
import { Resolver } from 'node:dns/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP, isIPv4, type LookupFunction } from 'node:net';

import type { Clock } from '../platform.js';
import { isPublicAddress, networkOf } from './public-address.js';
import { Quota } from './quota.js';

/** Time limit for everything: the address, the connection, and the complete answer. */
const TIMEOUT_MS = 5000;
const MAX_RUNNING = 64;
/** Cap on requests to one network: strangers choose the URLs, and mustn't use this server to flood somebody. */
const PER_NETWORK = { limit: 30, windowMs: 60_000 };
/** Addresses of each family that are tried in turn. */
const TRIED = 2;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_KEYS_BYTES = 64 * 1024;

/** What reaches the network. Tests pass their own. */
export interface Network {
  /** The IP addresses of a host; empty if it has none. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
  /** PEM certificates to trust in place of the usual ones. */
  readonly ca?: string;
  /** A signal that aborts after some milliseconds. Defaults to one that doesn't keep the process from exiting. */
  timeout?(ms: number): AbortSignal;
}

/** An answer with status 200, or one without its body. */
export interface PublicAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Why a URL gave no answer. The message goes to strangers, so it tells nothing of our network. */
export class FetchError extends Error {
  /** Whether the other side said nothing, so that what it said before may still be true. */
  readonly isOutage: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isOutage: boolean }) {
    super(message, options);
    this.isOutage = options.isOutage;
  }
}

/** Limits of one request. */
export interface FetchLimits {
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks DNS itself, not the system: `getaddrinfo` would read names from a local file, can't be cancelled, and blocks one
 * of the four threads that also write files.
 */
export const dnsNetwork: Network = {
  async resolve(host, signal) {
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    signal.addEventListener('abort', () => resolver.cancel(), { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  },
};

/**
 * Gets documents of strangers over https. It connects only to addresses that it has checked before, and follows no
 * redirects, so that nobody reaches a private network with it.
 */
export class PublicFetch {
  private readonly network: Network;
  private readonly allowLoopback: boolean;
  private readonly perNetwork: Quota;
  private running = 0;

  constructor(
    clock: Pick<Clock, 'now'>,
    { allowLoopback, network = dnsNetwork }: { allowLoopback: boolean; network?: Network },
  ) {
    this.network = network;
    this.allowLoopback = allowLoopback;
    this.perNetwork = new Quota(PER_NETWORK, clock);
  }

  /**
   * Requests an https URL.
   * @throws {FetchError} if there is no answer within the limits
   */
  async get(href: string, { maxBytes, signal }: FetchLimits): Promise<PublicAnswer> {
    const url = new URL(href);
    if (url.protocol !== 'https:') throw refused('does not use https');
    signal?.throwIfAborted();
    if (this.running >= MAX_RUNNING) throw outage('has to wait, because too many others are fetched');
    this.running += 1;
    const controller = new AbortController();
    const abort = () => controller.abort(outage(`did not answer within ${TIMEOUT_MS / 1000} s`));
    const timeout = this.network.timeout?.(TIMEOUT_MS) ?? AbortSignal.timeout(TIMEOUT_MS);
    for (const each of [timeout, signal]) each?.addEventListener('abort', abort, { once: true });
    try {
      return await untilAborted(this.attempt(url, maxBytes, controller.signal), controller.signal);
    } finally {
      this.running -= 1;
      for (const each of [timeout, signal]) each?.removeEventListener('abort', abort);
      // ends what is left of a request that was given up
      controller.abort();
    }
  }

  /** The same for oidc-provider, which fetches only the keys of clients (`jwks_uri`). */
  readonly fetch = async (url: string | URL, { signal }: RequestInit = {}): Promise<Response> => {
    const limits = { maxBytes: MAX_KEYS_BYTES, signal: signal ?? undefined };
    const { status, headers, body } = await this.get(String(url), limits);
    const kept = Object.entries(headers).filter((header): header is [string, string] => typeof header[1] === 'string');
    const isEmpty = [204, 205, 304].includes(status);
    return new Response(isEmpty ? null : new Uint8Array(body), { status, headers: kept });
  };

  private async attempt(url: URL, maxBytes: number, signal: AbortSignal): Promise<PublicAnswer> {
    const addresses = await this.addressesOf(url, signal);
    signal.throwIfAborted();
    const { ca } = this.network;
    const response = await send(url, { addresses, signal, ...(ca !== undefined && { ca }) });
    return await read(response, maxBytes);
  }

  private async addressesOf({ hostname }: URL, signal: AbortSignal): Promise<readonly string[]> {
    const host = hostname.replace(/^\[|\]$/g, '');
    const found = isIP(host) === 0 ? await this.resolve(host, signal) : [host];
    if (found.length === 0) throw outage('has a host without an address');
    // all of them: an answer that mixes public and private addresses is an attack
    if (!found.every((address) => isPublicAddress(address, this.allowLoopback))) {
      throw refused('has a host that is not public');
    }
    const tried = [true, false].flatMap((is4) => found.filter((each) => isIPv4(each) === is4).slice(0, TRIED));
    // this machine's own addresses need no protection
    const networks = new Set(tried.filter((address) => isPublicAddress(address)).map(networkOf));
    for (const network of networks) {
      if (this.perNetwork.take(network) > 0) throw outage('has a host that is asked too often');
    }
    return tried;
  }

  private async resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    if (/(?:^|\.)localhost\.?$/.test(host)) return this.allowLoopback ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
    try {
      return await this.network.resolve(host, signal);
    } catch (cause) {
      throw outage('has a host whose address is unknown', cause);
    }
  }
}

const outage = (message: string, cause?: unknown) => new FetchError(message, { isOutage: true, cause });
const refused = (message: string) => new FetchError(message, { isOutage: false });

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return await Promise.race([work, aborted]);
}

interface Connection {
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
  readonly ca?: string;
}

/** Sends the request to the checked addresses, which it doesn't look up again. */
function send(url: URL, { addresses, ...connection }: Connection): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const pinned: LookupFunction = (_host, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (all === true) done(null, found);
    else done(null, first?.address ?? '', first?.family);
  };
  return new Promise((resolve, reject) => {
    const sent = request({
      ...connection,
      host,
      port: url.port === '' ? 443 : url.port,
      path: `${url.pathname}${url.search}`,
      servername: isIP(host) === 0 ? host : '',
      lookup: pinned,
      // a shared agent might have a connection, or go through a proxy
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'decorum' },
    });
    sent.on('response', resolve);
    sent.on('error', (cause) => reject(outage('could not be fetched', cause)));
    sent.end();
  });
}

async function read(response: IncomingMessage, maxBytes: number): Promise<PublicAnswer> {
  const { statusCode: status = 0, headers } = response;
  if (status !== 200) {
    response.destroy();
    return { status, headers, body: Buffer.alloc(0) };
  }
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    response.destroy();
    throw refused('is compressed, although that was not asked for');
  }
  return { status, headers, body: await readBody(response, maxBytes) };
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // leaving the loop closes the connection
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw refused(`has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof FetchError ? cause : outage('ended too early', cause);
  }
  return Buffer.concat(chunks);
}
