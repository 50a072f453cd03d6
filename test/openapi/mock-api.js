/**
 * A mock of an API, as a program of its own: jest can't load openapi-backend. It answers with what it has read of each
 * request: the operation, its parameters and body, and what is wrong with them.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { load } from 'js-yaml';
import { OpenAPIBackend } from 'openapi-backend';

const document = JSON.stringify(load(readFileSync(String(process.argv[2]), 'utf8')));

/** What the validator says of a request. It can't compile each schema of each document. */
const errorsOf = (/** @type {() => unknown} */ validated) => {
  try {
    return validated();
  } catch {
    return null;
  }
};

const backend = new OpenAPIBackend({
  // alternatives overlap in real documents, and real APIs accept what fits several of them
  definition: JSON.parse(document.replaceAll('"oneOf":', '"anyOf":')),
  quick: true,
  validate: true,
  ajvOpts: { logger: false, strict: false },
});
await backend.init();

const server = createServer((incoming, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const { method = '', headers, url = '' } = incoming;
    /** @type {import('openapi-backend').Request} */
    const request = {
      method,
      headers: /** @type {Record<string, string>} */ (headers),
      path: url.split('?')[0] ?? '',
      query: url.split('?')[1] ?? '',
      ...(text !== '' && { body: text }),
    };
    const operation = backend.matchOperation(request);
    const { params, query, cookies, requestBody } = backend.router.parseRequest(request, operation);
    const errors = operation ? errorsOf(() => backend.validateRequest(request, operation).errors) : null;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        operation: operation?.operationId,
        method,
        params,
        query,
        cookies,
        headers,
        body: requestBody,
        errors,
      }),
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
