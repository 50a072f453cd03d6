import { connectMemory, type JsonObject } from '@decorum/core';
import type { Host } from '@decorum/core/transport';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const META = {
  [VERSION]: '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'inventor', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Sends `count` requests of each of five kinds. Each has a new invented name, and must be rejected. */
export async function sendInvented(server: Host, count: number): Promise<void> {
  const answers = new Set<string>();
  const receive = (message: object) => void answers.add('error' in message ? 'error' : 'result');
  const connection = await connectMemory(server, { receive });
  let id = 0;
  const send = (method: string, params: JsonObject, meta: JsonObject = META) =>
    connection.send({ jsonrpc: '2.0', id: (id += 1), method, params: { ...params, _meta: meta } });
  for (let index = 0; index < count; index += 1) {
    await send('tools/call', { name: `tool${index}`, arguments: {} });
    await send('prompts/get', { name: `prompt${index}` });
    await send('resources/read', { uri: `unknown://${index}` });
    await send(`method/${index}`, {});
    await send('tools/list', {}, { ...META, [VERSION]: `20${index}` });
  }
  await connection.close();
  if (answers.has('result')) throw new Error('The server accepted an invented name.');
}

/** Calls a tool that asks once, and answers each question with an error that has a new code. */
export async function answerInvented(server: Host, call: JsonObject, count: number): Promise<void> {
  let code = 0;
  const connection = await connectMemory(server, {
    receive(message) {
      const { id, method } = message as { readonly id?: number; readonly method?: string };
      if (method === undefined || id === undefined) return;
      code += 1;
      void connection.send({ jsonrpc: '2.0', id, error: { code, message: 'No.' } });
    },
  });
  let id = 0;
  const send = (method: string, params: JsonObject) =>
    connection.send({ jsonrpc: '2.0', id: (id += 1), method, params });
  const clientInfo = { name: 'inventor', version: '1.0.0' };
  await send('initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo });
  await connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (let index = 0; index < count; index += 1) await send('tools/call', call);
  await connection.close();
  if (code !== count) throw new Error(`The server asked ${code} questions.`);
}
