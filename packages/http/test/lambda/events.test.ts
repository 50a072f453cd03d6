import { describe, expect, it } from '@jest/globals';
import { Context, NoInput, Tool } from '@decorum/core';
import { type Auth, hostRequest } from '@decorum/http';
import type { LambdaEvent } from '@decorum/http/lambda';

import { createFunction, FORMATS, messageOf, posting, recorded, requesting } from './recorded.js';
import { ADD } from '../messages.js';

/** Shows what it is told of its request. */
class Mirror {
  contexts: Context[] = [];

  @Tool({ description: 'Looks' })
  look(_input: NoInput, ctx: Context) {
    this.contexts.push(ctx);
    return 'looked';
  }
}

function look(options: Parameters<typeof createFunction>[0] = {}) {
  const mirror = new Mirror();
  return { mirror, ...createFunction(options, { providers: [mirror] }) };
}

/** The values of the same headers, as a gateway sends them that joins them itself. */
const plain = (value: unknown) => String(value).replaceAll(', ', ',');

describe.each(FORMATS)('an event of the format %s', (name) => {
  it('gives handlers the headers, the address of the client and the event itself', async () => {
    const { mirror, send } = look({ allowedHosts: ['mcp.example.com', 'abcdefghij.lambda-url.eu-central-1.on.aws'] });
    const event = recorded(name);
    const result = await send(event);
    expect(messageOf(result)).toMatchObject({ id: 7, result: { content: [{ text: 'looked' }] } });
    expect(result).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    const { transport, principal } = mirror.contexts[0] as Context;
    // not what the client has sent in X-Forwarded-For
    expect(transport.remoteAddress).toBe('203.0.113.7');
    const host = name === 'function-url' ? 'abcdefghij.lambda-url.eu-central-1.on.aws' : 'mcp.example.com';
    expect(transport.headers).toMatchObject({ host, 'user-agent': 'client/1.0', 'content-length': String(86) });
    expect(plain(transport.headers?.['x-tag'])).toBe('one,two');
    expect(transport.headers).not.toHaveProperty('cookie');
    expect(hostRequest(transport)).toBe(event);
    expect(principal).toBeUndefined();
  });

  it('gives `auth` the path, the query and the cookies', async () => {
    const heads: unknown[] = [];
    const auth: Auth = {
      authenticate({ method, url, headers, authorizations }) {
        const query = [...new URL(url, 'http://localhost').searchParams];
        heads.push([method, url.split('?')[0], query, headers['cookie'], authorizations]);
        return { status: 401 };
      },
    };
    const { send } = look({ auth, allowedHosts: ['mcp.example.com', 'abcdefghij.lambda-url.eu-central-1.on.aws'] });
    expect((await send(recorded(name))).statusCode).toBe(401);
    const query = [
      ['tag', 'a'],
      ['tag', 'b c'],
      ['empty', ''],
    ];
    expect(heads).toEqual([['POST', '/mcp', query, 'a=1; b=2', []]]);
  });

  it('gets its headers in the form that its gateway takes', async () => {
    const { send } = look({ allowedHosts: ['mcp.example.com', 'abcdefghij.lambda-url.eu-central-1.on.aws'] });
    const { headers, multiValueHeaders } = await send(recorded(name));
    const type = 'application/json; charset=utf-8';
    const isMultiple = name === 'load-balancer';
    expect(isMultiple ? multiValueHeaders : headers).toEqual({ 'content-type': isMultiple ? [type] : type });
    expect(isMultiple ? headers : multiValueHeaders).toBeUndefined();
  });
});

describe('the caller of an event', () => {
  const principal = ({ requestContext: { authorizer } }: LambdaEvent) => {
    const claims = authorizer?.jwt?.claims ?? authorizer?.claims;
    return claims && { subject: String(claims['sub']), scopes: String(claims['scope']).split(' ') };
  };

  it.each(['rest-api', 'http-api'] as const)('is what `principal` reads from the authorizer of a %s', async (name) => {
    const { mirror, send } = look({ principal });
    await send(recorded(name));
    expect(mirror.contexts[0]?.principal).toEqual({ subject: 'ada', scopes: ['read', 'write'] });
  });

  it('has every Authorization header, so that two are rejected by `auth`', async () => {
    const found: unknown[] = [];
    const auth: Auth = { authenticate: ({ authorizations }) => (found.push(...authorizations), { status: 400 }) };
    const { send } = look({ auth });
    const event = recorded('rest-api');
    await send({
      ...event,
      multiValueHeaders: { ...event.multiValueHeaders, Authorization: ['Bearer a', 'Bearer b'] },
    });
    expect(found).toEqual(['Bearer a', 'Bearer b']);
  });

  it('is rejected from pages of other origins, and accepted from listed ones', async () => {
    const { send } = createFunction({ allowedOrigins: ['https://app.example.com'] });
    const from = async (origin: string) => await send(posting(ADD[0], { ...ADD[1], origin }));
    expect((await from('https://evil.example')).statusCode).toBe(403);
    expect((await from('http://localhost:3000')).statusCode).toBe(403);
    const allowed = await from('https://app.example.com');
    expect([allowed.statusCode, allowed.headers?.['access-control-allow-origin']]).toEqual([
      200,
      'https://app.example.com',
    ]);
  });
});

describe('the host of an event', () => {
  it('is accepted if a gateway has found it, whatever the client has sent in Host', async () => {
    const { send, mirror } = look();
    const event = recorded('http-api');
    expect((await send({ ...event, headers: { ...event.headers, host: 'evil.example' } })).statusCode).toBe(200);
    expect(mirror.contexts[0]?.transport.headers?.['host']).toBe('mcp.example.com');
  });

  it('must be in `allowedHosts` if that is there', async () => {
    const { send } = look({ allowedHosts: ['other.example.com'] });
    const refused = await send(recorded('http-api'));
    expect([refused.statusCode, messageOf(refused).error?.message]).toEqual([403, 'This Host is not allowed.']);
  });

  it('must be in `allowedHosts` behind a load balancer, which passes on any', async () => {
    const warnings: string[] = [];
    const logger = { warn: (_details: object, message: string) => void warnings.push(message), error() {} };
    const { send } = createFunction({}, { logger });
    expect((await send(recorded('load-balancer'))).statusCode).toBe(403);
    expect(warnings).toEqual([expect.stringContaining('allowedHosts')]);
  });
});

describe('the path of an event', () => {
  const at = (rawPath: string, stage = 'prod'): LambdaEvent => {
    const event = posting(ADD[0], ADD[1]);
    return { ...event, rawPath, requestContext: { ...event.requestContext, stage } };
  };

  it('has no stage', async () => {
    const { send } = createFunction({ path: '/mcp' });
    const statuses = async (...events: LambdaEvent[]) =>
      (await Promise.all(events.map((event) => send(event)))).map(({ statusCode }) => statusCode);
    expect(await statuses(at('/prod/mcp'), at('/mcp'), at('/mcp', '$default'))).toEqual([200, 200, 200]);
    expect(await statuses(at('/products/mcp'), at('/prod'), at(''))).toEqual([404, 404, 404]);
  });

  it('is any path unless the option is there', async () => {
    const { send } = createFunction();
    expect((await send(at('/prod'))).statusCode).toBe(200);
    expect((await send(at('/prod/tools/mcp'))).statusCode).toBe(200);
  });
});

describe('an event that is no HTTP request', () => {
  const others = Object.entries(recorded('others'));

  it.each(others)('fails, and the error says that it is %s', async (kind, event) => {
    const { send } = createFunction();
    const error = (await send(event as LambdaEvent).catch((reason: unknown) => reason)) as Error;
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(`but this event is ${kind}. Remove that trigger`);
  });
});

describe('the body of an event', () => {
  it('may be missing, broken, too long or of another type', async () => {
    const { send } = createFunction({ limits: { bodyLimit: 300 } });
    const status = async (event: LambdaEvent) => (await send(event)).statusCode;
    expect(await status(posting('', { 'mcp-protocol-version': '2025-11-25' }))).toBe(400);
    expect(await status(posting('{'))).toBe(400);
    expect(await status(posting('!', {}, { isBase64Encoded: true }))).toBe(400);
    expect(await status(posting(' '.repeat(301)))).toBe(413);
    expect(await status(posting(ADD[0], { ...ADD[1], 'content-type': 'text/plain' }))).toBe(415);
    expect(await status(requesting('PUT'))).toBe(405);
  });
});
