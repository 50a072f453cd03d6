/** The tools of every peer: those of `bench/src/bench-server.ts`, written with zod. */
import { z } from 'zod';

const addends = z.object({ a: z.number(), b: z.number() });

const order = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  status: z.enum(['new', 'paid', 'shipped']),
  priority: z.int(),
  gift: z.boolean(),
  note: z.string(),
  currency: z.string(),
  total: z.number(),
  tags: z.array(z.string()),
  customer: z.object({ name: z.string(), email: z.string(), age: z.number() }),
  address: z.object({ street: z.string(), city: z.string(), zip: z.string(), country: z.string() }),
  items: z.array(z.object({ sku: z.string(), qty: z.number(), price: z.number(), name: z.string() })),
});

const text = (/** @type {string} */ value) => ({ content: [{ type: /** @type {const} */ ('text'), text: value }] });

const add = (/** @type {{ a: number, b: number }} */ { a, b }) => ({
  ...text(String(a + b)),
  structuredContent: { sum: a + b },
});

/**
 * All tools, plus `BENCH_TOOLS` more shaped like `add`.
 * @type {{ name: string, description: string, schema: any, run: (args: any) => any }[]}
 */
export const TOOLS = [
  { name: 'add', description: 'Adds two numbers', schema: addends, run: add },
  { name: 'echo', description: 'Gives an order back', schema: order, run: (args) => text(JSON.stringify(args)) },
  {
    name: 'blob',
    description: 'Gives the length of a text',
    schema: z.object({ data: z.string() }),
    run: ({ data }) => text(String(data.length)),
  },
];
for (let index = 1; index <= Number(process.env.BENCH_TOOLS ?? 0); index += 1) {
  TOOLS.push({ name: `add_${index}`, description: 'Adds two numbers', schema: addends, run: add });
}
