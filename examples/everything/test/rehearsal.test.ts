import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@decorum/core';
import { connect, type ElicitQuestion, rehearse, type Rehearsal } from '@decorum/testing';

import { createServer } from '../src/server.js';

const SILENT = { warn: () => {}, error: () => {} };

/** Arguments of the tools that require them. */
const ARGUMENTS: Readonly<Record<string, object>> = {
  test_sampling: { prompt: 'Are you there?' },
  test_elicitation: { message: 'Who are you?' },
};

/** Number of questions of each tool that asks. */
const ASKING: Readonly<Record<string, number>> = {
  test_sampling: 1,
  test_missing_capability: 1,
  test_elicitation: 1,
  test_input_required_result_elicitation: 1,
  test_input_required_result_sampling: 1,
  test_input_required_result_list_roots: 1,
  test_input_required_result_request_state: 1,
  test_input_required_result_tampered_state: 1,
  test_input_required_result_multiple_inputs: 3,
  test_input_required_result_multi_round: 2,
  test_input_required_result_capabilities: 1,
  test_streaming_elicitation: 1,
  test_elicitation_sep1034_defaults: 1,
  test_elicitation_sep1330_enums: 1,
};

/** Tools that run as tasks, too. Rehearsals of tasks need a store of tasks. */
const TASKS = [
  'slow_compute',
  'failing_job',
  'protocol_error_job',
  'confirm_delete',
  'multi_input',
  'test_tool_with_task',
];

/** Fills in a form with values that its schema allows. */
function fillIn({ requestedSchema }: ElicitQuestion): JsonObject {
  const fields = Object.entries((requestedSchema['properties'] ?? {}) as Record<string, JsonObject>);
  const required = (requestedSchema['required'] ?? []) as readonly string[];
  const values = { string: 'Ada', boolean: true, integer: 1, number: 1.5 };
  const filled = fields.filter(([name]) => required.includes(name));
  return Object.fromEntries(filled.map(([name, { type }]) => [name, values[type as keyof typeof values]]));
}

/** A client that answers all questions and records them. */
function client() {
  const asked: string[] = [];
  const noting = <T extends unknown[], R>(what: string, answer: (...args: T) => R) => {
    return (...args: T) => {
      asked.push(`${what} ${(args[0] as { message?: string } | undefined)?.message ?? ''}`);
      return answer(...args);
    };
  };
  const handlers = {
    onElicit: noting('form', (form: ElicitQuestion) => ({ action: 'accept' as const, content: fillIn(form) })),
    onSample: noting('model', () => 'Paris'),
    onRoots: noting('roots', () => [{ uri: 'file:///home/ada' }]),
  };
  return { asked, handlers };
}

const server = ({ secret }: Pick<Rehearsal, 'secret'>) => createServer({ secret, logger: SILENT });

describe('every tool, in a session and by replay', () => {
  const tools = createServer({ logger: SILENT });

  it('is listed in the table if it asks questions', async () => {
    const listed = (await (await connect(tools)).listTools()).map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(Object.keys(ASKING)));
    // the other tools ask only clients that can answer
    for (const tool of listed.filter((name) => ASKING[name] === undefined && !TASKS.includes(name))) {
      const { asked, handlers } = client();
      await rehearse({ server, tool, ...handlers }).catch(() => {});
      expect([tool, asked]).toEqual([tool, []]);
    }
  });

  it.each(Object.entries(ASKING))('%s asks the same questions and returns the same result', async (tool, count) => {
    const { asked, handlers } = client();
    const { session, replay } = await rehearse({ server, tool, args: ARGUMENTS[tool] ?? {}, ...handlers });
    const { content, isError } = session.result;
    expect(isError).toBeUndefined();
    expect(replay.result).toMatchObject({ content });
    expect(replay.result.isError).toBeUndefined();
    expect(asked).toHaveLength(2 * count);
    expect(asked.slice(count)).toEqual(asked.slice(0, count));
  });
});
