// A little HTTP API with an OpenAPI document.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

const ITEM = {
  type: 'object',
  properties: { sku: { type: 'string' }, name: { type: 'string' }, count: { type: 'integer' } },
  required: ['sku', 'name', 'count'],
};
const answers = (schema: object) => ({ 200: { description: 'Done', content: { 'application/json': { schema } } } });
const SKU = { name: 'sku', in: 'path', required: true, schema: { type: 'string' } };

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Stock', version: '1.0.0' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
  security: [{ key: [] }],
  paths: {
    '/items': {
      get: {
        operationId: 'items',
        summary: 'Lists what is in stock',
        responses: answers({ type: 'array', items: ITEM }),
      },
    },
    '/items/{sku}/reservations': {
      post: {
        operationId: 'reserve',
        summary: 'Reserves pieces of an item',
        parameters: [SKU],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { type: 'object', properties: { pieces: { type: 'integer', minimum: 1 } }, required: ['pieces'] },
            },
          },
        },
        responses: answers(ITEM),
      },
    },
    '/items/{sku}': {
      delete: {
        operationId: 'remove',
        summary: 'Removes an item, which the gateway leaves out',
        parameters: [SKU],
        responses: { 204: { description: 'Removed' } },
      },
    },
  },
};

const items = new Map([
  ['tea', { sku: 'tea', name: 'Tea, 100 g', count: 12 }],
  ['pot', { sku: 'pot', name: 'Pot', count: 3 }],
]);

async function reserve(request: IncomingMessage, sku: string): Promise<readonly [status: number, body: object]> {
  const item = items.get(sku);
  const { pieces } = (await json(request)) as { readonly pieces: number };
  if (item === undefined) return [404, { message: `There is no item ${sku}.` }];
  if (item.count < pieces) return [409, { message: `There are only ${item.count} pieces.` }];
  item.count -= pieces;
  return [200, item];
}

async function answerOf(request: IncomingMessage, key: string): Promise<readonly [status: number, body: object]> {
  const { method, url = '' } = request;
  if (url === '/openapi.json') return [200, DOCUMENT];
  if (request.headers['x-api-key'] !== key) return [401, { message: 'The key is missing or wrong.' }];
  if (method === 'GET' && url === '/items') return [200, [...items.values()]];
  const [, sku] = /^\/items\/([^/]+)\/reservations$/.exec(url) ?? [];
  if (method === 'POST' && sku !== undefined) return await reserve(request, decodeURIComponent(sku));
  return [404, { message: 'Not found.' }];
}

async function answer(request: IncomingMessage, response: ServerResponse, key: string): Promise<void> {
  const [status, body] = await answerOf(request, key).catch(() => [400, { message: 'Bad request.' }] as const);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/**
 * Serves it on a free port, for callers with a key.
 * @returns the URL
 */
export async function startStockApi(key: string): Promise<string> {
  const http = createServer((request, response) => void answer(request, response, key));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  // the program ends with the gateway
  http.unref();
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}
