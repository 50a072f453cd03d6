import { afterEach, describe, expect, it } from '@jest/globals';
import { McpServer, mount } from '@decorum/core';
import { expectTool, type Model } from '@decorum/testing';

import { requireUncalled, scripted, searched, weather } from './servers.js';

const OSLO = { tool: 'forecast', arguments: { city: 'Oslo' } };

/** The message of the error that a promise rejects with. */
const messageOf = async (promise: Promise<unknown>): Promise<string> =>
  await promise.then(
    () => 'it did not reject',
    (error: Error) => error.message,
  );

afterEach(requireUncalled);

describe('expectTool', () => {
  it('gives the model what a client lists, and calls nothing', async () => {
    const model = scripted(OSLO);
    const choice = await expectTool('Rain in Oslo?', { server: weather(), model }).toBe('forecast');
    expect(choice).toEqual({ tool: 'forecast', arguments: { city: 'Oslo' }, problems: [], steps: [] });
    const [request] = model.asked;
    expect(request).toMatchObject({ question: 'Rain in Oslo?', instructions: 'Cities are in English.', steps: [] });
    expect(request?.tools.map(({ name }) => name)).toEqual(['forecast', 'current', 'unit']);
    expect(request?.tools[0]).toEqual({
      name: 'forecast',
      description: 'The weather of the next days',
      inputSchema: expect.objectContaining({ required: ['city'] }),
    });
  });

  it('lists for the principal', async () => {
    const model = scripted({ tool: 'reset' });
    const ada = { subject: 'ada' };
    await expectTool('Start over', { server: weather(), model, principal: ada }).toBe('reset');
    expect(model.asked[0]?.tools.map(({ name }) => name)).toContain('reset');
  });

  it('shows the question, the choice, the descriptions and the tools if another one is chosen', async () => {
    const model = scripted({ tool: 'current', arguments: { city: 'Oslo' } });
    const message = await messageOf(expectTool('Rain tomorrow?', { server: weather(), model }).toBe('forecast'));
    expect(message).toBe(
      [
        'For "Rain tomorrow?", the model chose current {"city":"Oslo"}. Expected forecast.',
        '  expected  forecast: The weather of the next days\n  chosen    current: The weather right now',
        'It saw 3 tools: forecast, current, unit',
      ].join('\n\n'),
    );
  });

  it('has the line of the test in the stack of a failure', async () => {
    const failing = expectTool('Hi', { server: weather(), model: scripted(OSLO) }).toBeNone();
    const error = await failing.catch((thrown: Error) => thrown);
    expect((error as Error).stack).toContain('expect-tool.test.ts');
  });

  it('accepts one of several tools', async () => {
    const { tool } = await expectTool('Rain?', { server: weather(), model: scripted(OSLO) }).toBe([
      'current',
      'forecast',
    ]);
    expect(tool).toBe('forecast');
  });

  it('compares some of the arguments, also with patterns and matchers of the runner', async () => {
    const call = { tool: 'forecast', arguments: { city: 'Oslo', days: 2 } };
    const chosen = expectTool('Rain?', { server: weather(), model: scripted(call) });
    await chosen.toBe('forecast', { arguments: { city: 'Oslo' } });
    await chosen.toBe('forecast', { arguments: { city: /^Os/, days: expect.any(Number) } });
    expect(await messageOf(chosen.toBe('forecast', { arguments: { city: 'Bergen' } }))).toContain(
      'The tool is right, but the arguments are not:\n\n  city: expected "Bergen", but it is "Oslo"',
    );
  });

  it('asks the model once for several comparisons', async () => {
    const model = scripted(OSLO);
    const chosen = expectTool('Rain?', { server: weather(), model });
    await chosen.toBe('forecast');
    await chosen.not.toBe(['current', 'unit']);
    expect(await chosen.choice()).toMatchObject(OSLO);
    expect(model.asked).toHaveLength(1);
  });

  it.each([undefined, null, {}])('takes %j for no tool', async (answer) => {
    const chosen = expectTool('Thanks!', { server: weather(), model: scripted(answer) });
    await chosen.toBeNone();
    expect(await messageOf(chosen.toBe('unit'))).toContain('the model chose no tool. Expected unit.');
  });

  it('fails for a tool where none is right, and for a forbidden one', async () => {
    const chosen = expectTool('Thanks!', {
      server: weather(),
      model: scripted({ tool: 'unit', arguments: { unit: 'K' } }),
    });
    expect(await messageOf(chosen.toBeNone())).toContain('the model chose unit {"unit":"K"}. Expected no tool.');
    expect(await messageOf(chosen.not.toBe('unit'))).toContain('the model chose unit {"unit":"K"}, which it must not.');
  });
});

describe('the arguments that a model chooses', () => {
  const problems = async (tool: string, args: object | string) =>
    (await expectTool('?', { server: weather(), model: scripted({ tool, arguments: args }) }).choice()).problems;

  it('are wrong if the schema or another rule of the server rejects them', async () => {
    expect(await problems('current', { city: 5 })).toEqual([expect.stringMatching(/^city: /)]);
    expect(await problems('current', { city: 'Atlantis' })).toEqual(['city: must exist']);
    expect(await problems('unit', {})).toEqual([expect.stringMatching(/^unit: /)]);
  });

  it('are right if the server repairs them', async () => {
    expect(await problems('forecast', { city: 'Oslo', days: '3' })).toEqual([]);
    expect(await problems('current', { city: 'Oslo', days: '3' })).toEqual([expect.stringMatching(/^days: /)]);
  });

  it('may be JSON, and are wrong if it has a mistake', async () => {
    expect(await problems('current', '{"city":"Oslo"}')).toEqual([]);
    expect(await problems('current', '{"city":')).toEqual(['the arguments are no JSON: {"city":']);
    expect(await problems('current', '[]')).toEqual(['the arguments are no object: []']);
  });

  it('fail the comparison even if it names none', async () => {
    const chosen = expectTool('?', {
      server: weather(),
      model: scripted({ tool: 'unit', arguments: { unit: 'kelvin' } }),
    });
    expect(await messageOf(chosen.toBe('unit'))).toContain('the arguments are not:\n\n  unit: ');
  });

  it('have the values that a change fixes, also behind a prefix', async () => {
    const inner = mount(weather(), {
      prefix: 'eu',
      transform: ({ name }) => (name === 'current' ? { fix: { city: 'Oslo' } } : undefined),
    });
    const server = new McpServer({ name: 'outer', version: '1.0.0', providers: [inner] });
    const judged = async (args: object) =>
      (await expectTool('?', { server, model: scripted({ tool: 'eu_current', arguments: args }) }).choice()).problems;
    expect(await judged({ days: 2 })).toEqual([]);
    expect(await judged({ days: 99 })).toEqual([expect.stringMatching(/^days: /)]);
  });

  it('are judged by the schema for a server elsewhere', async () => {
    const server = { command: process.execPath, args: [new URL('../servers/stdio.js', import.meta.url).pathname] };
    const chosen = expectTool('?', { server, model: scripted({ tool: 'forecast', arguments: { city: 5 } }) });
    expect((await chosen.choice()).problems).toEqual([expect.stringMatching(/^city: /)]);
  });
});

describe('the name that a model chooses', () => {
  it('may be an alias', async () => {
    const model = scripted({ tool: 'outlook', arguments: { city: 'Oslo' } });
    await expectTool('Rain?', { server: weather(), model }).toBe('forecast');
  });

  it.each(['reset', 'secret', 'nothing'])('is unknown if the list lacks it: %s', async (tool) => {
    const chosen = expectTool('?', { server: weather(), model: scripted({ tool }) });
    expect((await chosen.choice()).problems).toEqual([`there is no tool ${tool}`]);
  });
});

describe('a server with search()', () => {
  const find = { tool: 'search_tools', arguments: { query: 'weather next days' } };
  const call = { tool: 'call_tool', arguments: { name: 'forecast', arguments: { city: 'Oslo' } } };

  it('is searched, and a call through call_tool counts as one of its target', async () => {
    const model = scripted(find, call);
    const choice = await expectTool('Rain in Oslo?', { server: searched(), model }).toBe('forecast', {
      arguments: { city: 'Oslo' },
    });
    expect(model.asked[0]?.tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    expect(model.asked[1]?.steps).toEqual([{ ...find, result: expect.stringContaining('forecast\nThe weather of') }]);
    expect(choice.steps).toEqual(model.asked[1]?.steps);
  });

  it('judges the arguments of the target', async () => {
    const wrong = { tool: 'call_tool', arguments: { name: 'unit', arguments: { unit: 'kelvin' } } };
    const chosen = expectTool('Kelvin, please', { server: searched(), model: scripted(find, wrong) });
    const message = await messageOf(chosen.toBe('unit'));
    expect(message).toContain('the model chose unit {"unit":"kelvin"}. The tool is right');
    expect(message).toContain('It searched with {"query":"weather next days"} and found:\n\n  Call these tools with');
  });

  it('judges arguments in the wrong place by the schema of call_tool', async () => {
    const flat = { tool: 'call_tool', arguments: { name: 'forecast', city: 'Oslo' } };
    const { tool, problems } = await expectTool('?', { server: searched(), model: scripted(flat) }).choice();
    expect({ tool, problems }).toEqual({ tool: 'call_tool', problems: [expect.stringContaining('city')] });
  });

  it('hides nothing from a model that calls what it may, and finds nothing that it may not', async () => {
    const reset = { tool: 'call_tool', arguments: { name: 'reset' } };
    const { problems } = await expectTool('?', { server: searched(), model: scripted(reset) }).choice();
    expect(problems).toEqual(['there is no tool reset']);
  });

  it('ends a model that does nothing but search', async () => {
    const model = scripted(find);
    const chosen = expectTool('?', { server: searched(), model });
    expect(await messageOf(chosen.toBe('forecast'))).toContain('the model chose search_tools');
    expect(model.asked).toHaveLength(5);
    expect((await chosen.choice()).problems).toEqual([expect.stringContaining('add `steps` to its messages')]);
  });
});

describe('a model that fails', () => {
  it('fails the test with its error as the cause', async () => {
    const cause = new Error('429 Too Many Requests');
    const model: Model = async () => await Promise.reject(cause);
    await expect(expectTool('?', { server: weather(), model }).toBeNone()).rejects.toMatchObject({
      message: 'the model threw Error: 429 Too Many Requests',
      cause,
    });
  });

  it('is aborted if it takes too long', async () => {
    let signal: AbortSignal | undefined;
    const model: Model = async (request) => {
      signal = request.signal;
      return await new Promise<never>(() => {});
    };
    const hanging = expectTool('?', { server: weather(), model, timeoutMs: 20 }).toBeNone();
    await expect(hanging).rejects.toThrow('the model has not chosen within 0.02 s');
    expect(signal?.aborted).toBe(true);
  });

  it('is told what to return', async () => {
    const model = (() => ({ tool: 5 })) as unknown as Model;
    await expect(expectTool('?', { server: weather(), model }).toBeNone()).rejects.toThrow(
      'Return { tool, arguments }',
    );
  });
});

describe('mistakes in a test', () => {
  it('are found before the model is asked', async () => {
    const model = scripted(OSLO);
    const options = { server: weather(), model };
    expect(await messageOf(expectTool('?', options).toBe('forcast'))).toContain('Write "forecast"');
    expect(await messageOf(expectTool('?', options).toBe('outlook'))).toContain('names "outlook", which is no tool');
    expect(await messageOf(expectTool('?', options).not.toBe('outlook'))).toContain('names "outlook"');
    // a tool that the caller doesn't see can't be right, but may be forbidden
    expect(await messageOf(expectTool('?', options).toBe('reset'))).toContain('pass a `principal` who may see it');
    expect(model.asked).toEqual([]);
    await expectTool('?', options).not.toBe('reset');
  });

  it('in options have the code DECORUM_INVALID_OPTION', () => {
    const server = weather();
    const model = scripted(OSLO);
    for (const wrong of [
      () => expectTool('', { server, model }),
      () => expectTool('?', { server } as never),
      () => expectTool('?', { model } as never),
      () => expectTool('?', { server, model, timeout: 5 } as never),
      () => expectTool('?', { server, model, timeoutMs: 0 }),
    ]) {
      expect(wrong).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }) as never);
    }
  });
});
