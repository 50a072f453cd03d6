// The function answers an event as API Gateway writes it.
import { afterAll, expect, it } from '@jest/globals';

import { handler } from '../src/function.js';

afterAll(() => handler.close());

it('the function answers a call', async () => {
  const call = { name: 'forecast', arguments: { city: 'Oslo' } };
  const { statusCode, body } = await handler({
    version: '2.0',
    rawPath: '/mcp',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    requestContext: {
      domainName: 'abcdefghij.execute-api.eu-central-1.amazonaws.com',
      stage: '$default',
      http: { method: 'POST', sourceIp: '203.0.113.7' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    isBase64Encoded: false,
  });
  expect(statusCode).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ id: 1, result: { content: [{ text: expect.stringContaining('Oslo') }] } });
});
