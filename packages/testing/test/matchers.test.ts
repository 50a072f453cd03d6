// test/packaging runs this file under Vitest, too.
import '@decorum/testing/jest';

import { afterEach, describe, expect, it } from '@jest/globals';
import { McpError } from '@decorum/core';
import { connect, type ConnectOptions, contract, elicits, revisions, type TestClient } from '@decorum/testing';

import { createServer, PIXEL } from './servers/weather.js';

const open: TestClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function clientOf(options: ConnectOptions = {}): Promise<TestClient> {
  const client = await connect(createServer(), { onSample: () => 'yes', ...options });
  open.push(client);
  return client;
}

/** The message of an assertion that fails. */
async function messageOf(assertion: () => unknown): Promise<string> {
  try {
    await assertion();
  } catch (error) {
    return (error as Error).message;
  }
  return 'The assertion holds.';
}

describe.each(revisions)('weather, %s', (revision) => {
  it('knows tomorrow', async () => {
    const server = createServer();
    const client = await connect(server, { revision, via: 'http', principal: { subject: 'ada' } });
    await expect(client).toHaveTool('forecast', { annotations: { readOnlyHint: true } });
    expect(await client.callTool('forecast', { city: 'Oslo' })).toReturnText(/snow/);
    await client.close();
  });
});

// the oldest, the newest with sessions, and the one without
describe.each([0, -2, -1].map((at) => revisions.at(at) as string))('for a client of %s', (revision) => {
  it('toHaveTool finds tools, and compares what the revision has', async () => {
    const client = await clientOf({ revision });
    await expect(client).toHaveTool('forecast');
    await expect(client).toHaveTool('forecast', {
      description: /city/,
      annotations: { readOnlyHint: true },
      inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] },
    });
    await expect(client).not.toHaveTool('alerts');
    await expect(client).not.toHaveTool('forecast', { description: 'Other' });
    await expect(client).not.toHaveTool('forecast', { anotations: {} });
    expect(await client.listTools()).toHaveTool('map', { description: expect.stringContaining('map') });
    expect(await contract(client)).toHaveTool('map');
    await expect(client.listTools()).toHaveTool('map');
  });

  it('toHaveResource finds resources and templates', async () => {
    const client = await clientOf({ revision });
    await expect(client).toHaveResource('weather://today', { title: 'Today', mimeType: 'application/json' });
    await expect(client).toHaveResource('weather://today', { name: 'today' });
    await expect(client).toHaveResource('weather://{city}/station', { description: 'A station' });
    await expect(client).not.toHaveResource('weather://Oslo/station');
    expect(await contract(client)).toHaveResource('weather://{city}/station');
  });

  it('toHavePrompt finds prompts', async () => {
    const client = await clientOf({ revision });
    await expect(client).toHavePrompt('pack', { arguments: [{ name: 'city', required: true }] });
    await expect(client).not.toHavePrompt('unpack');
    expect(await client.listPrompts()).toHavePrompt('pack');
  });

  it('toReturnText reads tools, resources and prompts', async () => {
    const client = await clientOf({ revision });
    expect(await client.callTool('forecast', { city: 'Oslo' })).toReturnText(/snow/);
    await expect(client.callTool('caller')).toReturnText('nobody over memory');
    await expect(client.callTool('caller')).not.toReturnText('nobody');
    expect(await client.readResource('weather://today')).toReturnText('{"sky":"snow"}');
    expect(await client.getPrompt('pack', { city: 'Oslo' })).toReturnText(expect.stringContaining('Oslo'));
    expect(await client.callTool('map')).not.toReturnText();
  });

  it('toReturnStructured compares structured content, or the text that stands for it', async () => {
    const client = await clientOf({ revision });
    const result = await client.callTool('forecast', { city: 'Oslo' });
    expect(result).toReturnStructured();
    expect(result).toReturnStructured({ degrees: -3 });
    expect(result).toReturnStructured({ sky: /Oslo/ });
    expect(result).not.toReturnStructured({ degrees: 3 });
    await expect(client.callTool('hours')).toReturnStructured([6, 12, 18]);
    await expect(client.callTool('hours')).not.toReturnStructured([6, 12]);
    await expect(client.callTool('caller')).not.toReturnStructured();
  });

  it('toReturnImage compares media type and bytes', async () => {
    const client = await clientOf({ revision });
    const result = await client.callTool('map');
    expect(result).toReturnImage();
    expect(result).toReturnImage('image/png');
    expect(result).toReturnImage({ mimeType: /^image/, data: Buffer.from(PIXEL, 'base64') });
    expect(result).not.toReturnImage('image/jpeg');
    await expect(client.callTool('caller')).not.toReturnImage();
  });

  it('toMatchOutputSchema validates against the schema of the tool', async () => {
    const client = await clientOf({ revision });
    await expect(client.callTool('forecast', { city: 'Oslo' })).toMatchOutputSchema();
    await expect(client.callTool('hours')).toMatchOutputSchema();
    const result = await client.callTool('forecast', { city: 'Oslo' });
    await expect(result).toMatchOutputSchema({ type: 'object', required: ['sky'] });
    await expect(result).not.toMatchOutputSchema({ type: 'object', required: ['wind'] });
    expect(await messageOf(() => expect(client.callTool('caller')).toMatchOutputSchema())).toMatch('no output schema');
  });

  it('toBeToolError recognises errors for the model', async () => {
    const client = await clientOf({ revision });
    const result = await client.callTool('forecast', { city: 'Atlantis' });
    expect(result).toBeToolError();
    expect(result).toBeToolError(/no weather/);
    expect(result).not.toBeToolError('Something else');
    await expect(client.callTool('caller')).not.toBeToolError();
  });

  it('toBeMcpError knows the codes of the revision', async () => {
    const client = await clientOf({ revision });
    await expect(client.callTool('nobody')).toBeMcpError('unknown-tool');
    await expect(client.callTool('nobody')).rejects.toBeMcpError(-32602);
    await expect(client.readResource('weather://nowhere')).toBeMcpError('unknown-resource');
    await expect(client.readResource('weather://nowhere')).not.toBeMcpError('closing');
    await expect(client.callTool('caller')).not.toBeMcpError();
    expect(new McpError('closing', 'Bye')).toBeMcpError('closing');
    expect(new McpError('closing', 'Bye')).not.toBeMcpError('internal-error');
  });

  it('toAskFor sees what was asked, in one call or ever', async () => {
    const client = await clientOf({ revision });
    await expect(client.callTool('caller')).not.toAskFor();
    const result = await client.callTool('guess');
    expect(result).toAskFor('Will it snow?');
    expect(result).toAskFor({ method: 'sampling/createMessage', maxTokens: 5 });
    expect(client).toAskFor(/snow/);
    expect(client).not.toAskFor(/rain/);
  });
});

describe('a script of answers', () => {
  const asking = { era: 'stateful' } as const;

  it('answers in order, with content, actions, whole answers or functions', async () => {
    const one = await clientOf({ onElicit: elicits({ seat: '3A' }, 'accept') });
    await expect(one.callTool('book')).toReturnText('Booked 3A.');
    const two = await clientOf({
      era: 'stateless',
      onElicit: elicits(({ message }) => ({ seat: message.slice(0, 5) }), { action: 'decline' }),
    });
    await expect(two.callTool('book')).toReturnText('Not paid.');
    const three = await clientOf({ onElicit: elicits('cancel') });
    await expect(three.callTool('book')).toReturnText('Not booked: cancel.');
  });

  it.each(['stateful', 'stateless'] as const)('fails the call that asks for more, in a %s client', async (era) => {
    const client = await connect(createServer(), { era, onElicit: elicits({ seat: '3A' }) });
    const problem =
      'elicits(…) has 1 answer, but the server asked for more: "Pay for 3A?". Add an answer for each question.';
    expect(await messageOf(() => client.callTool('book'))).toBe(problem);
    expect(await messageOf(() => client.close())).toBe(problem);
  });

  it('fails `close` if answers are left', async () => {
    const client = await connect(createServer(), {
      ...asking,
      onElicit: elicits('cancel', { seat: '3A' }, () => 'accept'),
    });
    await client.callTool('book');
    expect(await messageOf(() => client.close())).toBe(
      'elicits(…) has 3 answers, but 2 were not used, because the server did not ask: {"seat":"3A"}, a function. ' +
        "Remove what is left over, or find out why the server doesn't ask.",
    );
  });

  it('says so if the revision has no questions for the user', async () => {
    const client = await connect(createServer(), { revision: '2024-11-05', onElicit: elicits('accept') });
    expect(await messageOf(() => client.close())).toBe(
      'elicits(…) has 1 answer, but 1 was not used, because the server did not ask: "accept". ' +
        "Servers can't ask the user in 2024-11-05.",
    );
  });
});

describe('the message of a failing', () => {
  const forecast = (client: TestClient, city = 'Oslo') => client.callTool('forecast', { city });
  const WRONG = { sky: 'sun', degrees: expect.any(String), wind: 3 };
  const SCHEMA = { type: 'object', properties: { sky: { type: 'number' } }, required: ['sky'] };

  const MESSAGES: readonly [matcher: string, assertion: (client: TestClient) => unknown][] = [
    ['toHaveTool', (client) => expect(client).toHaveTool('forcast')],
    ['toHaveTool with members', (client) => expect(client).toHaveTool('forecast', { title: 'F', description: /snow/ })],
    ['not.toHaveTool', (client) => expect(client).not.toHaveTool('map')],
    ['toHaveResource', (client) => expect(client).toHaveResource('weather://tomorrow')],
    ['toHavePrompt', (client) => expect(client).toHavePrompt('pack', { arguments: [{ required: false }] })],
    ['toReturnText', (client) => expect(forecast(client)).toReturnText(/rain/)],
    ['toReturnText for an image', (client) => expect(client.callTool('map')).toReturnText()],
    ['toReturnText for a tool error', (client) => expect(forecast(client, 'Atlantis')).toReturnText('x')],
    ['toReturnText for a rejection', (client) => expect(client.callTool('nobody')).toReturnText('x')],
    ['not.toReturnText', (client) => expect(client.callTool('caller')).not.toReturnText(/nobody/)],
    ['not.toReturnText for a rejection', (client) => expect(client.callTool('nobody')).not.toReturnText('x')],
    ['toReturnText for something else', () => expect(undefined).toReturnText('x')],
    ['toReturnStructured', (client) => expect(client.callTool('caller')).toReturnStructured()],
    ['toReturnStructured with members', (client) => expect(forecast(client)).toReturnStructured(WRONG)],
    ['toReturnImage', (client) => expect(client.callTool('map')).toReturnImage('image/jpeg')],
    ['toMatchOutputSchema', (client) => expect(forecast(client)).toMatchOutputSchema(SCHEMA)],
    ['toMatchOutputSchema without a schema', (client) => expect(client.callTool('caller')).toMatchOutputSchema()],
    ['toMatchOutputSchema for a tool error', (client) => expect(forecast(client, 'Atlantis')).toMatchOutputSchema()],
    ['toBeToolError', (client) => expect(client.callTool('caller')).toBeToolError()],
    ['toBeToolError with a text', (client) => expect(forecast(client, 'Atlantis')).toBeToolError(/rain/)],
    ['toBeMcpError', (client) => expect(client.callTool('nobody')).toBeMcpError('unknown-resource')],
    ['toBeMcpError for a result', (client) => expect(client.callTool('caller')).toBeMcpError('unknown-tool')],
    [
      'toBeMcpError for an unknown kind',
      (client) => expect(client.callTool('nobody')).toBeMcpError('no-such-kind' as 'closing'),
    ],
    ['toAskFor', (client) => expect(client.callTool('guess')).toAskFor('Will it rain?')],
    ['toAskFor without a question', (client) => expect(client).toAskFor()],
    ['not.toAskFor', (client) => expect(client.callTool('guess')).not.toAskFor(/snow/)],
  ];

  it.each(MESSAGES)('%s says what was there', async (_matcher, assertion) => {
    const client = await clientOf();
    const message = await messageOf(() => assertion(client));
    expect(message).toMatchSnapshot();
  });
});
