/**
 * `node --expose-gc bench/dist/flows.js [flows]`: starts this many requests (1,000 by default), leaves their questions
 * unanswered, and prints how many bytes of heap each request leaves behind.
 */
import { connectMemory, Context, McpServer, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

class Name {
  @IsString()
  name!: string;
}

class Desk {
  @Tool({ input: Name })
  async ask({ name }: Name, ctx: Context) {
    const notes = Buffer.alloc(10_000, name);
    const answer = await ctx.elicit(Name, { message: `Who is ${name}?` });
    return `${answer.action} ${notes.length}`;
  }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

async function main(flows: number): Promise<void> {
  const logger = { warn: () => {}, error: () => {} };
  const server = new McpServer({ name: 'flows', version: '1.0.0', providers: [Desk], logger });
  let open = 0;
  const connection = await connectMemory(server, {
    receive: (message) => {
      if ('result' in message && message.result?.['resultType'] === 'input_required') open += 1;
    },
  });
  const abandon = async (count: number) => {
    for (let id = 0; id < count; id++) {
      const params = { name: 'ask', arguments: { name: `flow ${id}` }, _meta: META };
      await connection.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
    }
  };
  await abandon(flows);
  const before = heap();
  await abandon(flows);
  const left = (heap() - before) / flows;
  console.log(`${open} flows started and abandoned; each of the last ${flows} left ${left.toFixed(0)} bytes`);
  await server.close();
}

function heap(): number {
  if (!globalThis.gc) throw new Error('Run it with --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await main(Number(process.argv[2] ?? 1000));
