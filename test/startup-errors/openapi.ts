import { openapi } from '@decorum/openapi';

import { type Mistakes, untyped, wrong } from './table.js';

const BASE = 'https://api.example.com';
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  paths: { '/orders': { get: { operationId: 'list' }, post: { 'x-mcp': { name: 'order' } } } },
};

const options = (given: object) => openapi(DOCUMENT, { baseUrl: BASE, ...given });
const document = (given: object) => openapi({ ...DOCUMENT, ...given }, { baseUrl: BASE });

/** A document that is served with a wrong option, or that can't be served. */
export const DOCUMENTS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong('openapi(document, …)', options, [
      [{ baseUrl: undefined }, "openapi: `baseUrl` is missing. Write baseUrl: 'https://api.example.com'"],
      [[{ baseUrl: 'api.example.com' }, { baseUrl: 'file:///etc' }], "Write baseUrl: 'https://api.example.com'"],
      [
        { baseUrl: 'https://a:b@api.example.com' },
        'has a user and password. Send them in `headers`, as `authorization`',
      ],
      [{ baseURL: BASE }, '`baseURL` is not an option. Write `baseUrl`'],
      [
        { headers: { 'x-a': 'a\nb' } },
        'openapi: `headers` has a value for "x-a" with characters that headers can\'t have',
      ],
      [
        { include: ['lists'] },
        '`include` names "lists", which is no operation of the document. Use an `operationId`, or "GET /path"',
      ],
      [
        { exclude: ['list', 'POST /orders'] },
        '`document` has no operation to serve. Check `paths`, and the options `include` and `exclude`',
      ],
      [
        { operations: { 'POST /orders': { resource: true } } },
        '`resource` makes a resource of POST /orders, which is no GET, or has required headers or cookies. Remove it',
      ],
      [{ timeoutMs: 0 }, '`timeoutMs` is 0, but must be a whole number from 1 to 3600000'],
    ]),
    ...wrong('openapi({ …document }, options)', document, [
      [
        { openapi: '3.2.0' },
        "openapi(document): `document` has the version 3.2.0, which the parser doesn't read yet. Write the document in OpenAPI 3.1",
      ],
      [{ openapi: undefined, swagger: '2.0' }, '`document` is a Swagger 2.0 document. Convert it to OpenAPI 3'],
      [
        { paths: { '/a/{id}': { get: { parameters: [{ in: 'path', name: 'id' }], responses: {} } } } },
        '`document` is not valid ... Correct it, or pass validate: false',
      ],
      [
        { paths: { '/a': { $ref: 'file:///etc/passwd' } } },
        '`document` refers to "file:///etc/passwd". If that is intended, list it in `externalRefs`',
      ],
    ]),
    [
      'a document that is not there',
      () => openapi('none.yaml', { baseUrl: BASE }),
      "openapi(none.yaml): `document` can't be read: ENOENT",
    ],
    [
      'no document',
      () => untyped<Promise<unknown>>(openapi)(undefined, { baseUrl: BASE }),
      "openapi: `document` must be a path, a URL or an object. Write openapi('petstore.yaml', { baseUrl: … })",
    ],
  ],
};
