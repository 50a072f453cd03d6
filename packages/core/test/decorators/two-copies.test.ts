import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, expect, it } from '@jest/globals';

const packages = fileURLToPath(new URL('../../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'second-copy-'));

afterAll(() => rmSync(copy, { recursive: true }));

it('two copies of the packages agree: one decorates, throws and describes, the other serves', () => {
  const modules = join(copy, 'node_modules');
  for (const path of ['core/dist', 'core/package.json', 'schema/dist', 'schema/package.json'])
    cpSync(join(packages, path), join(modules, '@decorum', path), { recursive: true });
  symlinkSync(join(packages, 'uri-template'), join(modules, '@decorum/uri-template'));
  for (const library of ['ajv', 'ajv-formats', 'class-transformer', 'class-validator', 'reflect-metadata'])
    symlinkSync(join(packages, 'schema/node_modules', library), join(modules, library));
  const script = `
    import * as one from '${packages}core/dist/index.js';
    import * as two from '${modules}/@decorum/core/dist/index.js';
    if (one.Tool === two.Tool || one.ArrayOf === two.ArrayOf) throw new Error('There is only one copy.');
    class Sale {}
    two.ArrayOf(String)(Sale.prototype, 'wares');
    class Shop {
      sell() { throw new two.ToolError('Sold out'); }
      ask() { throw new two.McpError('invalid-params', 'Which one?'); }
    }
    for (const key of ['sell', 'ask']) {
      two.Tool({ description: key, ...(key === 'sell' && { input: Sale }) })(Shop.prototype, key, Object.getOwnPropertyDescriptor(Shop.prototype, key));
    }
    const server = new one.McpServer({ name: 'shop', version: '1', providers: [Shop] });
    const said = [];
    try { new two.McpServer({}); } catch (error) { said.push({ isOurs: error instanceof one.DecorumError }); }
    const client = await one.connectMemory(server, { receive: (message) => said.push(message.result ?? message.error) });
    const send = (id, method, params) => client.send({ jsonrpc: '2.0', id, method, params });
    await send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } });
    await send(2, 'tools/list', {});
    await send(3, 'tools/call', { name: 'sell', arguments: { wares: ['tea'] } });
    await send(4, 'tools/call', { name: 'ask' });
    console.log(JSON.stringify(said.filter((each) => each.protocolVersion === undefined)));
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toMatchObject([
    { isOurs: true },
    {
      tools: [
        { name: 'sell', description: 'sell', inputSchema: { properties: { wares: { items: { type: 'string' } } } } },
        { name: 'ask', description: 'ask' },
      ],
    },
    { isError: true, content: [{ text: 'Sold out' }] },
    { code: -32602, message: 'Which one?' },
  ]);
});
