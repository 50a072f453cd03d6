import { Buffer } from 'node:buffer';

import type { Headers } from '../../endpoint/http-context.js';
import type { EventFormat, LambdaEvent } from './event.js';

/** An HTTP request, as read from an event. */
export interface EventRequest {
  readonly format: EventFormat;
  readonly method: string;
  /** Path and query, without the stage. */
  readonly url: string;
  readonly headers: Headers;
  /** The values of all `Authorization` headers. */
  readonly authorizations: readonly string[];
  /** See `HttpRequest`. */
  readonly isFromGateway: boolean;
  /** Undefined if there is none. */
  readonly body: Buffer | undefined;
  /** The client's address, as the gateway has seen it. */
  readonly remoteAddress: string | undefined;
}

/**
 * Reads an event. Nothing in it that a client can choose makes this throw.
 * @param trustsGateway whether the host that a gateway names is accepted as it is
 */
export function readEvent(
  event: LambdaEvent,
  format: EventFormat,
  { trustsGateway }: { readonly trustsGateway: boolean },
): EventRequest {
  const { requestContext, body: text, cookies = [] } = event;
  const { domainName } = requestContext;
  const lists = fieldsOf(event);
  const body = text ? Buffer.from(text, event.isBase64Encoded === true ? 'base64' : 'utf8') : undefined;
  const joined = Object.fromEntries(
    [...lists].map(([name, values]) => [name, values.join(name === 'cookie' ? '; ' : ', ')]),
  );
  const headers = {
    ...joined,
    ...(cookies.length > 0 && { cookie: cookies.join('; ') }),
    // REST APIs leave it out, and others send that of the encoded body
    'content-length': body && String(body.length),
    'transfer-encoding': undefined,
    // the gateway names the host that it has found. The client may have sent any
    host: domainName ?? joined['host'],
  };
  return {
    format,
    method: requestContext.http?.method ?? event.httpMethod ?? '',
    url: pathOf(event, format) + queryOf(event, format),
    headers,
    authorizations: lists.get('authorization') ?? [],
    isFromGateway: trustsGateway && domainName !== undefined,
    body,
    remoteAddress: addressOf(event, joined),
  };
}

/** The values of each header, by lower-case name. */
function fieldsOf({ headers, multiValueHeaders }: LambdaEvent): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(headers ?? {}))
    found.set(name.toLowerCase(), value === undefined ? [] : [value]);
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) found.set(name.toLowerCase(), values ?? []);
  return found;
}

/** The path without the stage, which the URLs of an API begin with unless it has a domain of its own. */
function pathOf({ rawPath = '/', path = '/', requestContext: { stage } }: LambdaEvent, format: EventFormat): string {
  if (format !== '2.0') return path || '/';
  if (stage === undefined) return rawPath || '/';
  const prefix = `/${stage}`;
  if (rawPath === prefix) return '/';
  return rawPath.startsWith(`${prefix}/`) ? rawPath.slice(prefix.length) : rawPath || '/';
}

/** The query with its `?`, or nothing. */
function queryOf(event: LambdaEvent, format: EventFormat): string {
  if (format === '2.0') return event.rawQueryString ? `?${event.rawQueryString}` : '';
  const { queryStringParameters: single, multiValueQueryStringParameters: multiple } = event;
  const pairs = multiple
    ? Object.entries(multiple).flatMap(([name, values]) => (values ?? []).map((value) => [name, value]))
    : Object.entries(single ?? {}).map(([name, value]) => [name, value ?? '']);
  if (pairs.length === 0) return '';
  // load balancers pass names and values as sent, and API Gateway decodes them
  if (format === 'elb') return `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`;
  return `?${String(new URLSearchParams(pairs as [string, string][]))}`;
}

/**
 * The client's address. A client can send any `X-Forwarded-For`, but a load balancer adds the address that it has seen
 * at the end.
 */
function addressOf({ requestContext: { http, identity, elb } }: LambdaEvent, headers: Headers): string | undefined {
  if (elb !== undefined) return headers['x-forwarded-for']?.split(',').at(-1)?.trim();
  return http?.sourceIp ?? identity?.sourceIp ?? undefined;
}
