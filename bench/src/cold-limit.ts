// The lower bound for a cold start: loads only what a server with DTOs needs, and answers with a handwritten response.
import { stdin, stdout } from 'node:process';

import { Ajv2020 } from 'ajv/dist/2020.js';
import * as classValidator from 'class-validator';

const ajv = new Ajv2020({ allErrors: true, strict: false });
const check = ajv.compile({ type: 'object', properties: { method: { type: 'string' } }, required: ['method'] });
const serverInfo = { name: 'by-hand', version: String(Object.keys(classValidator).length) };
let text = '';

stdin.on('data', (chunk: Buffer) => {
  text += chunk.toString();
  if (!text.endsWith('\n')) return;
  const message = JSON.parse(text) as { readonly id: number; readonly params: { readonly protocolVersion: string } };
  text = '';
  if (!check(message)) return;
  const { protocolVersion } = message.params;
  const result = { protocolVersion, capabilities: { tools: {} }, serverInfo };
  stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
});
