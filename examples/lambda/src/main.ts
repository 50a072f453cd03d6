// Tries the function on this machine: a local HTTP server turns requests into events, as API Gateway does.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

import type { LambdaEvent } from '@decorum/http/lambda';

import { handler } from './function.js';

const TIMEOUT_MS = 29_000;

const listener = createServer(async (request, response) => {
  const { method = '', url = '/', headers, socket } = request;
  const [rawPath = '/', rawQueryString = ''] = url.split('?', 2);
  const event: LambdaEvent = {
    version: '2.0',
    rawPath,
    rawQueryString,
    headers: headers as Record<string, string>,
    requestContext: {
      domainName: headers.host,
      stage: '$default',
      http: { method, sourceIp: socket.remoteAddress ?? '' },
    },
    body: await text(request),
    isBase64Encoded: false,
  };
  const until = Date.now() + TIMEOUT_MS;
  const result = await handler(event, { getRemainingTimeInMillis: () => until - Date.now() });
  response.writeHead(result.statusCode, result.headers).end(result.body);
});

await handler.ready;
const port = Number(process.env['PORT'] || 3000);
listener.listen(port, '127.0.0.1', () => {
  const address = listener.address();
  console.log(`Serving http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}/mcp`);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    listener.close();
    await handler.close(); // requests in flight finish
    listener.closeIdleConnections();
  });
}
