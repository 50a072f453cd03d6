// The template for AWS fits the function.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, it } from '@jest/globals';
import { parse } from 'yaml';

const at = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');

interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: Properties }>>;
  readonly Outputs: { readonly Url: { readonly Value: string } };
}

interface Properties {
  readonly CodeUri: string;
  readonly Handler: string;
  readonly Runtime: string;
  readonly Timeout: number;
  readonly Events: { readonly Mcp: { readonly Type: string; readonly Properties: { readonly Path: string } } };
}

/** `!Sub` is a function of CloudFormation, and its argument is a string. */
const template = parse(at('template.yaml'), {
  customTags: [{ tag: '!Sub', resolve: (text: string) => text }],
}) as Template;

it('the template runs the exported function of the bundle, in a version of Node.js that the packages support', () => {
  const { Type, Properties: properties } = template.Resources['Weather'] ?? {};
  expect(Type).toBe('AWS::Serverless::Function');
  const [file, name] = String(properties?.Handler).split('.');
  expect([properties?.CodeUri, file]).toEqual(['dist/bundle', 'main']);
  expect(at('src/function.ts')).toContain(`export const ${name} = `);
  expect(Number(/\d+/.exec(String(properties?.Runtime))?.[0])).toBeGreaterThanOrEqual(20);
});

it('the template ends a request before the HTTP API does, and its URL has the path of its route', () => {
  const { Timeout: timeout = 0, Events } = template.Resources['Weather']?.Properties ?? {};
  expect(timeout).toBeLessThan(30);
  expect(Events?.Mcp).toMatchObject({ Type: 'HttpApi', Properties: { Path: '/mcp' } });
  expect(template.Outputs.Url.Value).toMatch(/^https:.*\/mcp$/);
});
