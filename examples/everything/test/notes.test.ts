import { describe, expect, it } from '@jest/globals';
import { connect } from '@decorum/testing';

import { createServer } from '../src/server.js';

describe('the notes of the example', () => {
  it.each(['stateful', 'stateless'] as const)('are those of their user, until they are forgotten (%s)', async (era) => {
    const server = createServer();
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map(async (subject) => await connect(server, { era, via: 'http', principal: { subject } })),
    );
    const call = async (client = ann!, tool = '', args = {}) => {
      const { content } = await client.callTool(tool, args);
      return (content[0] as { text: string }).text;
    };
    expect(await call(ann, 'take_note', { text: 'buy milk' })).toBe('Notes: 1');
    expect(await call(ann, 'take_note', { text: 'buy tea' })).toBe('Notes: 2');
    expect(await call(bob, 'read_notes')).toBe('There are no notes.');
    expect(await call(ann, 'read_notes')).toBe('buy milk\nbuy tea');
    await call(ann, 'forget_notes');
    expect(await call(ann, 'read_notes')).toBe('There are no notes.');
    await Promise.all([ann!.close(), bob!.close()]);
  });
});
