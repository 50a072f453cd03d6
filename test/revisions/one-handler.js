// Handlers with questions: two in sequence, an effect that happens once, and two at the same time. They are plain
// JavaScript, so that a process can run them without a compiler.
import { McpServer } from '@decorum/core';

/** Arguments of every call: the name of its flow. */
const FLOW = { type: 'object', properties: { flow: { type: 'string' } }, required: ['flow'] };

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** @typedef {import('@decorum/core').Context} Context */

/**
 * A server with a tool whose questions work in every revision, and a tool that asks the user.
 * @param {(flow: string) => void} note the effect
 * @param {Partial<import('@decorum/core').McpServerOptions>} [options]
 */
export function createServer(note, options) {
  const server = new McpServer({ name: 'one-handler', version: '1.0.0', ...options });

  /** @param {string} flow @param {Context} ctx */
  const noteOnce = (flow, ctx) =>
    ctx.once('note', () => {
      note(flow);
      return `receipt for ${flow}`;
    });

  /** @param {string} messages @param {Context} ctx */
  const think = async (messages, ctx) => (await ctx.sample({ messages, maxTokens: 9 })).text;

  /** @param {string} message @param {Context} ctx */
  const where = async (message, ctx) => {
    const answer = await ctx.elicit(CITY, { message });
    return answer.action === 'accept' ? answer.content['city'] : answer.action;
  };

  server.addTool({ name: 'plan', input: FLOW }, async ({ flow }, ctx) => {
    const idea = await think('An idea?', ctx);
    const receipt = await noteOnce(String(flow), ctx);
    const better = await think(`Better than ${idea}?`, ctx);
    const [title, roots] = await Promise.all([think(`A title for ${better}?`, ctx), ctx.roots()]);
    return JSON.stringify([idea, receipt, better, title, roots.map(({ uri }) => uri)]);
  });

  server.addTool({ name: 'book', input: FLOW }, async ({ flow }, ctx) => {
    const from = await where('From?', ctx);
    const receipt = await noteOnce(String(flow), ctx);
    const to = await where(`From ${from} to?`, ctx);
    const [via, tip] = await Promise.all([where(`To ${to} by?`, ctx), think(`A tip for ${to}?`, ctx)]);
    return JSON.stringify([from, receipt, to, via, tip]);
  });

  return server;
}
