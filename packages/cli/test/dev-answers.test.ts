import { describe, expect, it } from '@jest/globals';

import { isMcpAnswer } from '../src/dev/answers.js';

const answer = (result: object) => ({ jsonrpc: '2.0', id: 1, result });
const stateless = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };

describe('an answer that decorum dev relays', () => {
  it('shows that a path is MCP, whatever its request claims to be (#22)', () => {
    for (const method of ['tools/call', 'tools/list', 'server/discover', 'delete', undefined]) {
      const request = { jsonrpc: '2.0', id: 1, method, params: stateless };
      const results = [
        { resultType: 'complete', tools: [] },
        { resultType: 'input_required' },
        { tools: [] },
        { resultType: 1 },
        { resultType: null },
        {},
      ];
      const taken = results.map((result) => isMcpAnswer(answer(result), request));
      expect([method, taken]).toEqual([method, [true, true, false, false, false, false]]);
    }
  });

  it('shows it by what MCP alone answers, if the request is one of a session (#22)', () => {
    const requests: readonly (readonly [method: string, result: object, isMcp: boolean])[] = [
      ['initialize', { protocolVersion: '2025-11-25' }, true],
      ['initialize', { protocolVersion: 1 }, false],
      ['initialize', {}, false],
      ['tools/list', { tools: [] }, true],
      ['tools/list', { prompts: [] }, false],
      ['tools/list', { tools: {} }, false],
      ['delete', { resultType: 'complete' }, false],
    ];
    for (const [method, result, isMcp] of requests) {
      expect([method, result, isMcpAnswer(answer(result), { jsonrpc: '2.0', id: 1, method })]).toEqual([
        method,
        result,
        isMcp,
      ]);
    }
  });

  it('does not show it if it is an error (#22)', () => {
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'No such method.' } };
    expect(isMcpAnswer(error, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: stateless })).toBe(false);
  });
});
