import { describe, expect, it } from '@jest/globals';
import { type Context, McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { z } from 'zod';

const SLOW = z.object({ a: z.string().regex(/\s+$/) });
const LONG = `${' '.repeat(100_000)}x`;
const TOO_LONG = expect.stringContaining('must have at most 1000 characters') as unknown;

class Desk {
  @Tool({ input: SLOW }) take({ a }: z.infer<typeof SLOW>) {
    return a;
  }

  @Tool({ output: SLOW }) give(_input: NoInput) {
    return { a: LONG };
  }

  @Tool() async ask(_input: NoInput, ctx: Context) {
    const answer = await ctx.elicit(SLOW, { message: 'Who are you?', key: 'who' });
    return answer.action;
  }

  @Prompt({ input: SLOW }) say({ a }: z.infer<typeof SLOW>) {
    return a;
  }

  @Resource('texts://{a}', { input: SLOW }) text({ a }: z.infer<typeof SLOW>) {
    return a;
  }
}

const open = () => {
  const logger = { warn() {}, error() {} };
  const server = new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk], logger });
  return connect(server, { onElicit: () => ({ action: 'accept', content: { a: LONG } }) });
};

describe('a text too long for a pattern of a Standard Schema', () => {
  it('never reaches the library: arguments of tools and prompts, variables, results and answers (#22)', async () => {
    await using client = await open();
    expect(await client.callTool('take', { a: LONG })).toMatchObject({ isError: true, content: [{ text: TOO_LONG }] });
    await expect(client.getPrompt('say', { a: LONG })).rejects.toThrow(/at most 1000 characters/);
    await expect(client.readResource(`texts://${'%20'.repeat(2000)}x`)).rejects.toThrow(/at most 1000 characters/);
    expect(await client.callTool('give')).toMatchObject({ isError: true });
    expect(await client.callTool('ask')).toMatchObject({ isError: true, content: [{ text: TOO_LONG }] });
  });
});
