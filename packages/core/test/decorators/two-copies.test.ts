import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, expect, it } from '@jest/globals';

const core = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'second-copy-'));

afterAll(() => rmSync(copy, { recursive: true }));

it('two copies of the package agree: one decorates, throws and describes, the other serves', () => {
  for (const part of ['dist', 'package.json']) cpSync(`${core}${part}`, `${copy}/${part}`, { recursive: true });
  symlinkSync(`${core}node_modules`, `${copy}/node_modules`);
  const script = `
    import * as one from '${core}dist/index.js';
    import * as two from '${copy}/dist/index.js';
    if (one.Tool === two.Tool) throw new Error('There is only one copy.');
    class Shop {
      sell() { throw new two.ToolError('Sold out'); }
      ask() { throw new two.McpError('invalid-params', 'Which one?'); }
    }
    for (const key of ['sell', 'ask']) {
      two.Tool({ description: key })(Shop.prototype, key, Object.getOwnPropertyDescriptor(Shop.prototype, key));
    }
    const server = new one.McpServer({ name: 'shop', version: '1', providers: [Shop] });
    const said = [];
    const client = await one.connectMemory(server, { receive: (message) => said.push(message.result ?? message.error) });
    const send = (id, method, params) => client.send({ jsonrpc: '2.0', id, method, params });
    await send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } });
    await send(2, 'tools/list', {});
    await send(3, 'tools/call', { name: 'sell' });
    await send(4, 'tools/call', { name: 'ask' });
    console.log(JSON.stringify(said.slice(1)));
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toMatchObject([
    {
      tools: [
        { name: 'sell', description: 'sell' },
        { name: 'ask', description: 'ask' },
      ],
    },
    { isError: true, content: [{ text: 'Sold out' }] },
    { code: -32602, message: 'Which one?' },
  ]);
});
