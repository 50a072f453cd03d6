import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { fastify } from 'fastify';

import { reportTo } from './usage.js';

// What nothing built on Fastify can beat: the body parsed, the arguments checked, the answer written; no protocol.

interface Call {
  readonly id: number;
  readonly params: { readonly name: string; readonly arguments: Record<string, unknown> };
}

interface Tool {
  readonly check: ValidateFunction;
  readonly run: (args: Record<string, unknown>) => object;
}

/** The published input schemas of the tools, so that both sides make the same check. */
const schemas = JSON.parse(process.env['LIMIT_SCHEMAS'] ?? '{}') as Record<string, object>;
const ajv = new Ajv2020({ allErrors: true, strict: false });
formats.default(ajv);

function add({ a, b }: Record<string, unknown>): object {
  const sum = Number(a) + Number(b);
  return { content: [{ type: 'text', text: String(sum) }], structuredContent: { sum } };
}

function echo(order: Record<string, unknown>): object {
  return { content: [{ type: 'text', text: JSON.stringify(order) }] };
}

const tools = new Map<string, Tool>([
  ['add', { check: ajv.compile(schemas['add'] ?? {}), run: add }],
  ['echo', { check: ajv.compile(schemas['echo'] ?? {}), run: echo }],
]);

const app = fastify({ logger: false });
app.post('/mcp', (request, reply) => {
  const { id, params } = request.body as Call;
  const tool = tools.get(params.name);
  if (tool === undefined || !tool.check(params.arguments)) return reply.code(400).send();
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: tool.run(params.arguments) });
  return reply.type('application/json').send(answer);
});
const url = await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' });
reportTo(process, `${url}/mcp`);
