// The files for each place fit the program: ports, paths, names and times.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { freePort } from '../../../test/support/dev-project.js';

// bundles, and starts processes
jest.setTimeout(180_000);

const FOLDER = fileURLToPath(new URL('../', import.meta.url));
const at = (path: string) => readFileSync(join(FOLDER, path), 'utf8');

const image = mkdtempSync(join(tmpdir(), 'decorum-deploy-'));
beforeAll(() => {
  const decorum = join(FOLDER, '../../packages/cli/bin/decorum.js');
  const { status, stderr } = spawnSync(process.execPath, [decorum, 'build', '--bundle'], {
    cwd: FOLDER,
    env: { ...process.env, NODE_OPTIONS: '' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  for (const [, from = '', to = ''] of at('docker/Dockerfile').matchAll(/^COPY (\S+) (\S+)$/gm)) {
    mkdirSync(join(image, to, '..'), { recursive: true });
    cpSync(join(FOLDER, from), join(image, to), { recursive: true });
  }
});
afterAll(() => rmSync(image, { recursive: true, force: true }));

const instruction = (name: string) => new RegExp(`^${name} (.+)$`, 'm').exec(at('docker/Dockerfile'))?.[1] ?? '';
const ENV = Object.fromEntries(
  instruction('ENV')
    .split(' ')
    .map((each) => each.split('=')),
) as Record<string, string>;
const COMMAND = JSON.parse(instruction('CMD')) as string[];

/** Runs the image with an environment, and stops it after `use` as a host does. */
async function running(
  env: Record<string, string>,
  use: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const inside = { PATH: process.env['PATH'] ?? '', ...ENV, ...env, PORT: String(await freePort()) };
  const [program = '', ...args] = COMMAND;
  const child = spawn(program, args, { cwd: image, env: inside, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    await once(createInterface(child.stdout), 'line');
    await use(inside);
  } finally {
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
}

/** The status of a GET with a `Host`, which `fetch` can't set. */
async function statusOf(url: string, host: string): Promise<number | undefined> {
  const [response] = await once(request(url, { headers: { host } }).end(), 'response');
  response.resume();
  return response.statusCode;
}

it('the image is healthy while it runs, whatever hosts it allows, and ends with 0', async () => {
  const [program = '', ...args] = JSON.parse(instruction('HEALTHCHECK').replace(/^.* CMD /, '')) as string[];
  const check = async (env: Record<string, string>) => (await once(spawn(program, args, { env }), 'exit'))[0];
  for (const hosts of ['localhost,127.0.0.1', 'mcp.example.com']) {
    await running({ ALLOWED_HOSTS: hosts }, async (env) => expect(await check(env)).toBe(0));
  }
  expect(await check({ PATH: process.env['PATH'] ?? '', PORT: String(await freePort()) })).toBe(1);
});

const DEADLINE_MS = Number(/closeDeadlineMs: ([\d_]+)/.exec(at('src/main.ts'))?.[1]?.replaceAll('_', ''));

describe('the objects for Kubernetes', () => {
  const documents = parseAllDocuments(at('kubernetes/weather.yaml'));
  const [deployment, service, ingress, scaler] = documents.map((each) => each.toJS());
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const env = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );

  it('are YAML, and name each other', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const labels = deployment.spec.template.metadata.labels;
    expect([deployment.spec.selector.matchLabels, service.spec.selector]).toEqual([labels, labels]);
    const [{ name, containerPort }] = container.ports;
    expect(String(containerPort)).toBe(env.PORT);
    expect(service.spec.ports).toMatchObject([{ name: 'http', targetPort: name }]);
    const [rule] = ingress.spec.rules;
    expect([rule.host, ...ingress.spec.tls[0].hosts]).toEqual([env.ALLOWED_HOSTS, env.ALLOWED_HOSTS]);
    expect(rule.http.paths[0].backend.service).toEqual({ name: service.metadata.name, port: { name: 'http' } });
    expect(scaler.spec.scaleTargetRef.name).toBe(deployment.metadata.name);
  });

  it('ask for paths that the server answers', async () => {
    // without Redis, which the pods share
    const { REDIS_URL: _, DECORUM_SECRET: _secret, ...own } = env;
    await running(own, async ({ PORT }) => {
      for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
        const [{ name, value }] = httpGet.httpHeaders;
        expect(name).toBe('Host');
        expect(await statusOf(`http://127.0.0.1:${PORT}${httpGet.path}`, value)).toBe(200);
      }
      const [{ path }] = ingress.spec.rules[0].http.paths;
      // the endpoint is there, and wants a session
      expect(await statusOf(`http://127.0.0.1:${PORT}${path}`, env.ALLOWED_HOSTS)).toBe(400);
    });
  });

  it('give calls their deadline before the pod is killed', () => {
    const [, seconds] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + DEADLINE_MS / 1000);
  });
});

describe('the unit of systemd', () => {
  const unit = at('systemd/weather.service');

  it('is accepted by systemd-analyze', () => {
    const folder = mkdtempSync(join(tmpdir(), 'decorum-unit-'));
    const node = unit.replace('/usr/bin/node', process.execPath);
    writeFileSync(join(folder, 'weather.service'), node);
    const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', join(folder, 'weather.service')], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    // only Linux has it
    if (error) return;
    const about = stderr.split('\n').filter((line) => line.includes('weather.service'));
    expect([about, status]).toEqual([[], 0]);
  });

  it('allows what every version of Node.js needs to start, on any address', () => {
    expect(/^SystemCallFilter=(.+)$/m.exec(unit)?.[1]?.split(' ')).toEqual(['@system-service', '@pkey']);
    const families = /^RestrictAddressFamilies=(.+)$/m.exec(unit)?.[1]?.split(' ');
    expect(families).toEqual(expect.arrayContaining(['AF_INET', 'AF_INET6', 'AF_NETLINK']));
  });

  it('starts what the image starts, and gives calls their deadline', () => {
    expect(/^ExecStart=\S+ \/opt\/weather\/(.+)$/m.exec(unit)?.[1]).toBe(COMMAND[1]);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(DEADLINE_MS / 1000);
    expect(at('systemd/weather.env')).toMatch(/^ALLOWED_HOSTS=mcp\.example\.com$/m);
  });
});
