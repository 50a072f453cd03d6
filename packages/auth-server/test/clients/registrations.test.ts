import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, describe, expect, it } from '@jest/globals';

import type { ClientMetadata } from '../../src/clients/client-metadata.js';
import { RegisteredClients } from '../../src/clients/registered-clients.js';
import { Registrations } from '../../src/clients/registrations.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { standingClock } from './origin.js';
import { provider } from './provider.js';

const VALID = { redirect_uris: ['https://client.example/cb'] };

const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));

async function open() {
  const clock = standingClock();
  const sealer = { seal: (_: string, text: string) => text, open: (_: string, text: string) => text };
  const clients = new RegisteredClients({ store: new MemoryStore({}, clock), clock, sealer, schemes: [] });
  const reported: [string, string | undefined][] = [];
  const report = ({ client_id: id }: ClientMetadata, address: string | undefined) => void reported.push([id, address]);
  const registrations = new Registrations(clients, report);
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const body = Buffer.concat(chunks as Buffer[]);
      return registrations.handle({ body, response, address: '192.0.2.1', provider });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/register`;
  const post = async (body: string | Uint8Array) => {
    const response = await fetch(url, { method: 'POST', body });
    return { status: response.status, headers: response.headers, json: (await response.json()) as ClientMetadata };
  };
  return { clients, reported, post };
}

describe('/register', () => {
  it('answers 201 with the client, which nothing may cache, and reports it [AUTHAS-04]', async () => {
    const { clients, reported, post } = await open();
    const { status, headers, json } = await post(JSON.stringify(VALID));
    expect([status, headers.get('cache-control'), headers.get('content-type')]).toEqual([
      201,
      'no-store',
      'application/json',
    ]);
    expect(json.client_secret).toBeDefined();
    expect(await clients.find(json.client_id)).toEqual(json);
    expect(reported).toEqual([[json.client_id, '192.0.2.1']]);
  });

  it('answers what it refuses with 400 and an error, also what only oidc-provider refuses', async () => {
    const { reported, post } = await open();
    const redirect = JSON.stringify({ redirect_uris: ['http://evil.example/cb'] });
    expect(await post(redirect)).toMatchObject({ status: 400, json: { error: 'invalid_redirect_uri' } });
    const jwks = { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] };
    const keyed = JSON.stringify({ ...VALID, token_endpoint_auth_method: 'private_key_jwt', jwks });
    for (const body of [keyed, '', '{', '[]', 'null', '"x"', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])]) {
      const { status, json } = await post(body);
      expect([status, json]).toEqual([
        400,
        { error: 'invalid_client_metadata', error_description: expect.stringMatching(/./) },
      ]);
    }
    expect(reported).toEqual([]);
  });

  it('answers 429 with Retry-After to the 21st client of an address within an hour', async () => {
    const { post } = await open();
    for (let n = 0; n < 20; n += 1) expect((await post(JSON.stringify(VALID))).status).toBe(201);
    const { status, headers, json } = await post(JSON.stringify(VALID));
    expect([status, headers.get('retry-after'), json]).toMatchObject([429, '3600', { error: 'slow_down' }]);
  });
});
