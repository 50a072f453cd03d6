// `decorum dev` passes on what clients and programs write, byte for byte.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { Inbox } from '../../../test/support/dev-clients.js';
import { type DevRun, Project } from '../../../test/support/dev-project.js';

const EXACT = '"n": 12345678901234567890 ,"e":1e400, "s":"\\u00e9\\/é"';
const INITIALIZE = `{"method":"initialize", "id" : 1,"params":{"protocolVersion":"2025-06-18",${EXACT}},"jsonrpc":"2.0"}`;
const INITIALIZED = `{"jsonrpc":"2.0","method":"notifications/initialized","params":{${EXACT}}}`;
const CALL = `{ "jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask",${EXACT}} }`;
const BEGUN = `{"jsonrpc":"2.0","result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"raw","version":"1.0.0"},"capabilities":{"experimental":{${EXACT}}},${EXACT}},"id":1}`;
const QUESTION = `{"jsonrpc":"2.0","method":"elicitation/create","id" : 7,"params":{"_meta":{"progressToken": 9 },${EXACT}}}`;
const CALLED = `{"jsonrpc":"2.0","id":2,"result":{${EXACT}} }`;

/** Answers with exact text, and writes down the exact text that arrives. */
const SHARED = `
import { appendFileSync } from 'node:fs';
const seen = (text: string) => appendFileSync('seen.txt', text + '\\n');
const [BEGUN, QUESTION, CALLED] = ${JSON.stringify([BEGUN, QUESTION, CALLED])};
const begun = (id: unknown) => BEGUN.replace(/"id":1}$/, '"id":' + JSON.stringify(id) + '}');
// edited: no
`;
const OVER_STDIO = `${SHARED}
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result } = JSON.parse(line);
  seen(line);
  if (method === 'initialize') console.log(begun(id));
  else if (method === 'tools/call') console.log(QUESTION);
  else if (result !== undefined) console.log(CALLED);
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: '' } }));
});
`;
const OVER_HTTP = `${SHARED}
import { createServer, type ServerResponse } from 'node:http';
let asking: ServerResponse;
createServer(async (request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { id, method, result } = JSON.parse(text);
  if (request.url !== '/mcp') return void response.writeHead(404).end();
  seen(text);
  const json = { 'content-type': 'application/json', 'mcp-session-id': 'raw' };
  if (method === 'initialize') return void response.writeHead(200, json).end(begun(id));
  if (method === 'tools/call') {
    asking = response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void asking.write('data: ' + QUESTION + '\\n\\n');
  }
  if (result !== undefined) asking.end('data: ' + CALLED + '\\n\\n');
  if (id === undefined || method === undefined) return void response.writeHead(202).end();
  response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: '' } }));
}).listen(Number(process.env['PORT']));
`;

/** A client that writes and reads text. */
interface TextClient {
  send(text: string): void;
  next(wants: RegExp): Promise<string>;
}

function overStdio(project: Project): { run: DevRun; client: TextClient } {
  const run = project.dev(['--stdio']);
  const inbox = new Inbox<string>();
  let rest = '';
  run.child.stdout?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    lines.forEach(inbox.put);
  });
  const send = (text: string) => void run.child.stdin?.write(`${text}\n`);
  return { run, client: { send, next: (wants) => inbox.next((line) => wants.test(line)) } };
}

async function overHttp(project: Project): Promise<{ run: DevRun; client: TextClient }> {
  const { run, url } = await project.serve();
  const inbox = new Inbox<string>();
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = async (body: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, ...(!body.includes('"initialize"') && { 'mcp-session-id': 'raw' }) },
      body,
    });
    // each program gets connections of its own, which the client must not learn of
    expect(response.headers.get('connection')).toBe('keep-alive');
    let rest = '';
    const put = (line: string) => line !== '' && inbox.put(line.replace(/^data: /, ''));
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      lines.forEach(put);
    }
    put(rest);
    inbox.put(`took ${body}`);
  };
  return { run, client: { send: (text) => void post(text), next: (wants) => inbox.next((line) => wants.test(line)) } };
}

describe.each([
  ['stdio', OVER_STDIO],
  ['HTTP', OVER_HTTP],
])('decorum dev over %s', (via, main) => {
  it('changes ids and capabilities, and no other byte of a message: also when it repeats one (#22)', async () => {
    const project = new Project({ 'src/main.ts': main });
    const { run, client } = via === 'stdio' ? overStdio(project) : await overHttp(project);
    const own = () =>
      readFileSync(join(project.folder, 'seen.txt'), 'utf8')
        .split('\n')
        .filter((line) => line.includes(EXACT));
    client.send(INITIALIZE);
    const declared = ['resources', 'prompts', 'tools'].map((name) => `"${name}":{"listChanged":true}`).join();
    const capabilities = `"capabilities":{"logging":{},${declared},"experimental"`;
    expect(await client.next(/"result"/)).toBe(BEGUN.replace('"capabilities":{"experimental"', capabilities));
    client.send(INITIALIZED);
    if (via === 'HTTP') await client.next(/^took.*initialized/);
    client.send(CALL);
    const token = '"progressToken": "dev-1" ';
    const asked = QUESTION.replace('"id" : 7', '"id" : "dev-1"').replace('"progressToken": 9 ', token);
    expect(await client.next(/elicitation/)).toBe(asked);
    const progress = (word: string) =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken" :${word},${EXACT}}}`;
    client.send(progress('"dev-1"'));
    if (via === 'HTTP') await client.next(/^took.*progress/);
    client.send(`{"jsonrpc":"2.0","id":"dev-1","result":{${EXACT}}}`);
    expect(await client.next(/^\{.*"result"/)).toBe(CALLED);
    const answer = `{"jsonrpc":"2.0","id":7,"result":{${EXACT}}}`;
    expect(own()).toEqual([INITIALIZE, INITIALIZED, CALL, progress('9'), answer]);
    project.edit('src/main.ts', 'edited: no', 'edited: yes');
    await run.says(/src\/main\.ts {2}\d+ ms/);
    const [again = '', ...more] = own().slice(5);
    expect(again.replace(/"decorum-dev-[\d-]+"/, '1')).toBe(INITIALIZE);
    expect(more).toEqual([INITIALIZED]);
  });
});
