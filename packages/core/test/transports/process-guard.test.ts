import { afterEach, describe, expect, it, jest } from '@jest/globals';

import type { Host } from '@decorum/core/transport';
import { guardProcess } from '@decorum/core/internal';
import { HOST } from '@decorum/core/transport';

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;
const listeners = () => EVENTS.map((event) => process.listenerCount(event));

function hostOf(report: (error: unknown) => void): Host {
  return {
    [HOST]: {
      open: () => Promise.reject(new Error('not served')),
      routes: [],
      detach: () => {},
      hit: () => {},
      report,
      warn: () => {},
    },
  };
}

describe('The guard of the process', () => {
  const releases: (() => void)[] = [];
  const guard = (host: Host) => {
    const release = guardProcess(host);
    releases.push(release);
    return release;
  };

  afterEach(() => {
    for (const release of releases.splice(0)) release();
  });

  it('adds its listeners only once, and removes them with the last release', () => {
    const before = listeners();
    const hosts = [hostOf(() => {}), hostOf(() => {})] as const;
    const guards = [guard(hosts[0]), guard(hosts[0]), guard(hosts[1])];
    const during = before.map((count) => count + 1);
    expect(listeners()).toEqual(during);
    guards[0]?.();
    guards[0]?.();
    guards[2]?.();
    expect(listeners()).toEqual(during);
    guards[1]?.();
    expect(listeners()).toEqual(before);
  });

  it('reports to every server, even if the logger of one throws', () => {
    const heard: unknown[] = [];
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    guard(
      hostOf(() => {
        throw new Error('logger');
      }),
    );
    const host = hostOf((error) => heard.push(error));
    guard(host);
    guard(host);
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
    const own = EVENTS.map((event) => process.listeners(event as 'uncaughtException').at(-1));
    own[0]?.(thrown, 'uncaughtException');
    own[1]?.(rejected, 'unhandledRejection' as 'uncaughtException');
    expect(heard).toEqual([thrown, rejected]);
    expect(stderr.mock.calls.flat()).toEqual(EVENTS.map(() => 'The error could not be reported: Error: logger\n'));
    stderr.mockRestore();
  });

  it('reports a broken pipe once: a logger that writes to it would raise it again for each report', () => {
    const heard: unknown[] = [];
    guard(hostOf((error) => heard.push(error)));
    const own = process.listeners('uncaughtException').at(-1);
    const broken = () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    for (let round = 0; round < 3; round += 1) own?.(broken(), 'uncaughtException');
    expect(heard).toHaveLength(1);
  });
});
