import { describe, expect, it } from '@jest/globals';

import { type AuthEvent, Reporter } from '../src/events.js';

describe('the audit of sign-in', () => {
  const open = () => {
    const clock = { now: 0 };
    const events: AuthEvent[] = [];
    const logged: string[] = [];
    const reporter = new Reporter({ onEvent: (event) => void events.push(event) }, { now: () => clock.now });
    reporter.logTo((message) => void logged.push(message));
    return { reporter, events, logged, clock };
  };
  const from = { remoteAddress: '203.0.113.7' };

  it('reports each event as it is, without members that are unknown', () => {
    const { reporter, events, logged } = open();
    reporter.signIn({ type: 'login', subject: 'ada', allowed: true, clientId: undefined, ...from });
    reporter.signIn({
      type: 'consent',
      subject: 'ada',
      allowed: false,
      clientId: 'https://editor.example/client.json',
      redirectHost: '127.0.0.1',
      scopes: ['mcp'],
    });
    reporter.signIn({ type: 'registered', clientId: 'c-1', redirectHost: 'editor.example', ...from });
    reporter.signIn({ type: 'revoked', grantId: 'g-1' });
    expect(events).toEqual([
      { type: 'login', subject: 'ada', allowed: true, ...from },
      {
        type: 'consent',
        subject: 'ada',
        allowed: false,
        clientId: 'https://editor.example/client.json',
        redirectHost: '127.0.0.1',
        scopes: ['mcp'],
      },
      { type: 'registered', clientId: 'c-1', redirectHost: 'editor.example', ...from },
      { type: 'revoked', grantId: 'g-1' },
    ]);
    expect(logged).toEqual([]);
  });

  it('escapes what comes from clients and strangers, in events and the log', () => {
    const { reporter, events, logged } = open();
    const subject = `x\n\u001b[31m\u202e"${'y'.repeat(1000)}`;
    reporter.signIn({ type: 'lockout', subject, ...from });
    reporter.signIn({
      type: 'consent',
      subject: 'ada',
      allowed: true,
      clientId: 'a\nb',
      redirectHost: 'c\u0000d',
      scopes: ['e\nf'],
    });
    expect(events[0]?.subject).toMatch(/^x\?\?\[31m\?"y{191}$/);
    expect(events[1]).toMatchObject({ clientId: 'a?b', redirectHost: 'c?d', scopes: ['e?f'] });
    for (const line of logged) expect(line).toMatch(/^[\x20-\x7e]{1,400}$/);
  });

  it('logs lockouts and replays, each at most once a minute, and the other events never', () => {
    const { reporter, logged, clock, events } = open();
    const replay = { clientId: 'c-1', grantId: 'g-1', subject: 'ada' };
    for (const second of [0, 1, 59, 60]) {
      clock.now = second * 1000;
      reporter.signIn({ type: 'lockout', subject: `user-${second}`, ...from });
      reporter.signIn({ type: 'code-replay', ...replay });
      reporter.signIn({ type: 'refresh-replay', ...replay });
    }
    expect(events).toHaveLength(12);
    const stolen = 'so its grant has ended. It may have been stolen (user "ada", client "c-1").';
    const locked = (user: string) =>
      `Too many sign-ins failed, so the server refuses more for a while (user "${user}", address "203.0.113.7").`;
    const both = [`An authorization code was used twice, ${stolen}`, `A refresh token was used again, ${stolen}`];
    expect(logged).toEqual([locked('user-0'), ...both, locked('user-60'), ...both]);
  });
});
