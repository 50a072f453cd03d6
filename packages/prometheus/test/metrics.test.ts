import { Context, McpServer, Resource, Tool, ToolError } from '@decorum/core';
import { listen } from '@decorum/http';
import { metrics } from '@decorum/prometheus';
import { connect, type ConnectOptions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';
import { type OpenMetricsContentType, Registry } from 'prom-client';

import { answerInvented, sendInvented } from '../../../test/support/invented-names.js';

class Place {
  @IsString() city!: string;
}

class Weather {
  @Tool() forecast({ city }: Place) {
    if (city === 'Atlantis') throw new ToolError('It is gone.');
    return `Rain in ${city}`;
  }

  @Tool() async book({ city }: Place, ctx: Context) {
    return `${await ctx.confirm(`Book ${city}?`)}`;
  }

  @Resource('weather://{city}/today') today({ city }: Place) {
    return `Sun in ${city}`;
  }
}

const HANDLERS = { onElicit: () => ({ action: 'accept' as const, content: { answer: true } }) };
const failing = (promise: Promise<unknown>) => expect(promise).rejects.toBeInstanceOf(Error);

function weatherServer(options: Parameters<typeof metrics>[0], name = 'weather') {
  return new McpServer({ name, version: '1.0.0', providers: [Weather], plugins: [metrics(options)] });
}

/** Calls a tool of a server once. Returns the revision. */
async function forecast(server: McpServer, options: ConnectOptions = {}): Promise<string> {
  const client = await connect(server, options);
  await client.callTool('forecast', { city: 'Oslo' });
  await client.close();
  return client.revision;
}

/** The lines of a metric, without those of its histogram's buckets. */
const linesOf = (text: string, metric: string) =>
  text.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));

describe('Calls', () => {
  it.each(['memory', 'stdio', 'http'] as const)('are counted by member and outcome over %s', async (via) => {
    const registry = new Registry();
    const client = await connect(weatherServer({ registry }), { via });
    await client.callTool('forecast', { city: 'Oslo' });
    await client.callTool('forecast', { city: 'Rome' });
    await client.callTool('forecast', { city: 'Atlantis' });
    await client.readResource('weather://oslo/today');
    await failing(client.callTool('none'));
    await client.close();
    const calls = linesOf(await registry.metrics(), 'mcp_server_calls_total');
    const labels = 'server="weather",mcp_method_name';
    expect(calls).toEqual(
      expect.arrayContaining([
        `mcp_server_calls_total{${labels}="tools/call",member="forecast",outcome="ok"} 2`,
        `mcp_server_calls_total{${labels}="tools/call",member="forecast",outcome="tool-error",cause="expected"} 1`,
        `mcp_server_calls_total{${labels}="resources/read",member="weather://{city}/today",outcome="ok"} 1`,
        `mcp_server_calls_total{${labels}="tools/call",outcome="error",cause="not-found"} 1`,
        `mcp_server_calls_total{${labels}="initialize",outcome="ok"} 1`,
      ]),
    );
  });

  it('are counted by alias, unless the member is hidden', async () => {
    const registry = new Registry();
    const server = weatherServer({ registry });
    server.addTool({ name: 'wind', aliases: ['breeze'] }, () => 'calm');
    server.addTool({ name: 'storm', aliases: ['gale'], access: () => true }, () => 'calm');
    const client = await connect(server, {});
    for (const name of ['breeze', 'breeze', 'wind', 'gale']) await client.callTool(name);
    await failing(client.callTool('invented'));
    await client.close();
    expect(linesOf(await registry.metrics(), 'mcp_server_alias_calls_total')).toEqual([
      'mcp_server_alias_calls_total{server="weather",mcp_method_name="tools/call",member="wind",alias="breeze"} 2',
    ]);
  });

  it('are timed under the names of the conventions', async () => {
    const registry = new Registry();
    const revision = await forecast(weatherServer({ registry }), { via: 'http' });
    const text = await registry.metrics();
    const labels = [
      'server="weather"',
      'mcp_method_name="tools/call"',
      'gen_ai_operation_name="execute_tool"',
      'gen_ai_tool_name="forecast"',
      `mcp_protocol_version="${revision}"`,
      'network_transport="tcp"',
      'network_protocol_name="http"',
    ].join(',');
    const name = 'mcp_server_operation_duration_seconds';
    expect(text).toContain(`# TYPE ${name} histogram`);
    expect(text).toContain(`${name}_count{${labels}} 1`);
    expect(text).toContain(`${name}_bucket{le="+Inf",${labels}} 1`);
    const buckets = text.split('\n').filter((line) => line.startsWith(`${name}_bucket`) && line.includes(labels));
    const counts = buckets.map((line) => Number(line.split(' ').at(-1)));
    expect(counts).toHaveLength(17);
    expect(counts.toSorted((a, b) => a - b)).toEqual(counts);
    expect(Number(linesOf(text, `${name}_sum`)[0]?.split(' ').at(-1))).toBeGreaterThan(0);
  });

  it('add one series for each kind of name that a client invents', async () => {
    const registry = new Registry();
    await sendInvented(weatherServer({ registry }), 10_000);
    const text = await registry.metrics();
    const kinds = ['tools/call', 'prompts/get', 'resources/read', '_OTHER', 'tools/list'];
    const lines = linesOf(text, 'mcp_server_calls_total');
    expect(lines).toHaveLength(kinds.length);
    for (const method of kinds) {
      const cause = method === 'tools/list' ? 'invalid-request' : 'not-found';
      expect(lines.join()).toContain(`method_name="${method}",outcome="error",cause="${cause}"} 10000`);
    }
    expect(linesOf(text, 'mcp_server_operation_duration_seconds_count')).toHaveLength(kinds.length);
  });
});

describe('Sessions', () => {
  it('are counted while they are open, and timed when they end', async () => {
    const registry = new Registry();
    const client = await connect(weatherServer({ registry }), { via: 'http' });
    const labels = `server="weather",mcp_protocol_version="${client.revision}",network_transport="tcp",network_protocol_name="http"`;
    expect(await registry.metrics()).toContain(`mcp_server_sessions{${labels}} 1`);
    await client.close();
    const text = await registry.metrics();
    expect(text).toContain(`mcp_server_sessions{${labels}} 0`);
    expect(text).toContain(`mcp_server_session_duration_seconds_count{${labels}} 1`);
  });
});

describe('Questions', () => {
  it.each(['stdio', 'http'] as const)('are counted and timed over %s', async (via) => {
    const registry = new Registry();
    const client = await connect(weatherServer({ registry }), { via, ...HANDLERS });
    await client.callTool('book', { city: 'Oslo' });
    await client.close();
    const text = await registry.metrics();
    const counted = 'server="weather",mcp_method_name="elicitation/create",outcome="ok"';
    expect(text).toContain(`mcp_server_questions_total{${counted}} 1`);
    expect(linesOf(text, 'mcp_client_operation_duration_seconds_count')).toHaveLength(1);
  });

  it('add one series, whatever codes a client invents', async () => {
    const registry = new Registry();
    await answerInvented(weatherServer({ registry }), { name: 'book', arguments: { city: 'Oslo' } }, 100);
    const series = linesOf(await registry.metrics(), 'mcp_client_operation_duration_seconds_count');
    expect(series).toEqual([expect.stringMatching(/error_type="_OTHER".* 100$/)]);
  });
});

describe('GET /metrics', () => {
  it('serves the registry, beside MCP', async () => {
    const { url, close } = await listen(weatherServer({ defaultMetrics: true }), { port: 0, signals: false });
    const client = await connect(url);
    await client.callTool('forecast', { city: 'Oslo' });
    const response = await fetch(new URL('/metrics', url));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('member="forecast",outcome="ok"} 1');
    expect(text).toContain('process_cpu_user_seconds_total');
    await client.close();
    await close();
  });

  it('is at the path of the option, or nowhere', async () => {
    for (const path of ['/internal/metrics', false] as const) {
      const { url, close } = await listen(weatherServer({ path }), { port: 0, signals: false });
      const statusOf = async (at: string) => (await fetch(new URL(at, url))).status;
      expect(await statusOf('/metrics')).toBe(404);
      expect(await statusOf('/internal/metrics')).toBe(path === false ? 404 : 200);
      await close();
    }
  });

  it('has no metrics of the process by default', async () => {
    const registry = new Registry();
    weatherServer({ registry });
    expect(await registry.metrics()).not.toContain('process_');
  });
});

describe('Two servers in one process', () => {
  const line = (server: string) =>
    `mcp_server_calls_total{server="${server}",mcp_method_name="tools/call",member="forecast",outcome="ok"} 1`;

  it('have a registry each', async () => {
    const [first, second] = [new Registry(), new Registry()];
    await forecast(weatherServer({ registry: first }, 'first'));
    await forecast(weatherServer({ registry: second }, 'second'));
    expect(await first.metrics()).toContain(line('first'));
    expect(await first.metrics()).not.toContain('server="second"');
    expect(await second.metrics()).toContain(line('second'));
  });

  it('may share a registry: the label `server` tells them apart', async () => {
    const registry = new Registry();
    await forecast(weatherServer({ registry, defaultMetrics: true }, 'first'), { era: 'stateless' });
    await forecast(weatherServer({ registry, defaultMetrics: true }, 'second'), { era: 'stateless' });
    expect(linesOf(await registry.metrics(), 'mcp_server_calls_total')).toEqual([line('first'), line('second')]);
  });
});

describe('One plugin on two servers', () => {
  const serverOf = (name: string, plugin: ReturnType<typeof metrics>) =>
    new McpServer({ name, version: '1.0.0', providers: [Weather], plugins: [plugin] });

  it('fails at startup, because the calls of both would have one name', async () => {
    const plugin = metrics();
    const client = await connect(serverOf('first', plugin));
    const code = 'DECORUM_PLUGIN_FAILED';
    const message = expect.stringMatching(/"first".*Call `metrics\(\)` once for each server/);
    await expect(connect(serverOf('second', plugin))).rejects.toMatchObject({ code, message });
    await client.close();
  });

  it('works for one after the other', async () => {
    const registry = new Registry();
    const plugin = metrics({ registry });
    for (const name of ['first', 'second']) {
      const server = serverOf(name, plugin);
      await forecast(server);
      await server.close();
    }
    const calls = linesOf(await registry.metrics(), 'mcp_server_calls_total').filter((line) =>
      line.includes('"forecast"'),
    );
    expect(calls).toEqual([expect.stringContaining('server="first"'), expect.stringContaining('server="second"')]);
  });
});

describe('A registry', () => {
  it('of OpenMetrics is served as such', async () => {
    const registry = new Registry<OpenMetricsContentType>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    await forecast(weatherServer({ registry }), { era: 'stateless' });
    const text = await registry.metrics();
    expect(text).toContain('# TYPE mcp_server_calls counter');
    expect(linesOf(text, 'mcp_server_calls_total')).toHaveLength(1);
    expect(text.endsWith('# EOF\n')).toBe(true);
  });

  it('that was cleared gets the metrics of the next server', async () => {
    const registry = new Registry();
    weatherServer({ registry });
    registry.clear();
    await forecast(weatherServer({ registry }), { era: 'stateless' });
    expect(linesOf(await registry.metrics(), 'mcp_server_calls_total')).toHaveLength(1);
  });

  it('can be reset', async () => {
    const registry = new Registry();
    const client = await connect(weatherServer({ registry }), { era: 'stateless' });
    await client.callTool('forecast', { city: 'Oslo' });
    registry.resetMetrics();
    expect(linesOf(await registry.metrics(), 'mcp_server_calls_total')).toEqual([]);
    await client.callTool('forecast', { city: 'Oslo' });
    await client.close();
    expect(linesOf(await registry.metrics(), 'mcp_server_calls_total')).toHaveLength(1);
  });
});

describe('A mistake in the options', () => {
  it.each([
    ['registry', null],
    ['registry', {}],
    ['path', true],
  ])('fails at once: `%s` is %j', (option, value) => {
    const options = { [option]: value } as Parameters<typeof metrics>[0];
    expect(() => metrics(options)).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });

  it.each([
    ['metrics', '"metrics".*Write "/metrics"'],
    ['/:name', '"/:name".*Write "/metrics"'],
    ['', '"".*Write "/"'],
  ])('names the option of a path that no route can have: %j (#22)', (path, message) => {
    expect(() => metrics({ path })).toThrow(new RegExp(`metrics: \`path\` is ${message}`));
  });
});

describe('Members that are hidden from some callers', () => {
  const isAdmin = (principal: { subject?: string } | undefined) => principal?.subject === 'admin';
  class Office {
    @Tool({ access: isAdmin }) purge() {}
    @Resource('office://{city}', { access: isAdmin }) office({ city }: Place) {
      return city;
    }
    @Tool() greet() {}
  }

  async function metricsAfterCalls(hiddenMembers?: boolean) {
    const registry = new Registry();
    const options = { registry, ...(hiddenMembers !== undefined && { hiddenMembers }) };
    const server = new McpServer({ name: 'o', version: '1.0.0', providers: [Office], plugins: [metrics(options)] });
    const guest = await connect(server);
    const admin = await connect(server, { principal: { subject: 'admin' } });
    await failing(guest.callTool('purge'));
    await failing(guest.callTool('none'));
    await admin.callTool('purge');
    await admin.readResource('office://oslo');
    await guest.callTool('greet');
    await server.close();
    return await registry.metrics();
  }

  it('have no names in the metrics, and a denied call looks like one of an unknown name (#22)', async () => {
    const text = await metricsAfterCalls();
    expect(text).not.toMatch(/purge|office:/);
    expect(text).toContain('member="greet"');
    expect(text).toContain('mcp_method_name="tools/call",outcome="error",cause="not-found"} 2');
  });

  it('have names if `hiddenMembers` is true (#22)', async () => {
    const text = await metricsAfterCalls(true);
    expect(text).toContain('member="purge",outcome="ok"} 1');
    expect(text).toContain('member="purge",outcome="error",cause="denied"} 1');
    expect(text).toContain('member="office://{city}"');
  });
});
