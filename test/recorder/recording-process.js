// Records calls in a folder, as fast as it can.
import { recorder } from '../../packages/audit/dist/index.js';
import { connectMemory, McpServer, ToolError } from '../../packages/core/dist/index.js';

const [folder = '', count = ''] = process.argv.slice(2);
const plugins = [recorder({ folder, maxFiles: Number(count) > 1000 ? 1000 : 50 })];
const server = new McpServer({ name: 'shop', version: '1.0.0', plugins });
server.addTool({ name: 'fail', description: 'Fails', input: { type: 'object' } }, () => {
  throw new ToolError(`It failed ${'x'.repeat(1500)}`);
});
/** @type {((value: unknown) => void) | undefined} */
let answered;
const client = await connectMemory(server, { receive: () => answered?.(undefined) });
/** @param {string} method @param {object} params @param {number} id */
const request = async (method, params, id) => {
  const answer = new Promise((resolve) => (answered = resolve));
  await client.send({ jsonrpc: '2.0', id, method, params });
  await answer;
};
const clientInfo = { name: 'client', version: '1.0.0' };
await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }, 0);
for (let id = 1; id <= Number(count); id++) {
  await request('tools/call', { name: 'fail', arguments: { note: 'y'.repeat(20_000), password: `secret-${id}` } }, id);
  if (id % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  if (id === 20) process.send?.('started');
}
await server.close();
process.disconnect?.();
