import { afterEach, describe, expect, it } from '@jest/globals';
import type { ElicitQuestion, Notification } from '@decorum/client';

import { closeAll, eventually, Front, jsonOf, Listener, program, STATEFUL, STATELESS, textOf } from './front.js';

afterEach(closeAll);

const named = ({ message }: ElicitQuestion) => ({ action: 'accept' as const, content: { name: `<${message}>` } });

const PAIRS = [STATELESS, STATEFUL].flatMap((front) => [STATELESS, STATEFUL].map((behind) => [front, behind] as const));

describe.each(PAIRS)('a client of %s, and an upstream of %s', (revision, behind) => {
  const fronts = {
    http: async () => new Front((await Listener.start()).url, { revision: behind }),
    stdio: async () => new Front(program, { revision: behind, process: 'session' }),
  };

  describe.each(['http', 'stdio'] as const)('over %s', (kind) => {
    it('forwards questions, which name the upstream, and their answers', async () => {
      const front = await fronts[kind]();
      const client = await front.client({ revision, onElicit: named, principal: { subject: 'ann' } });
      expect(textOf(await client.callTool('ask', { who: 'Ann' }))).toBe('Ann: <geo: Name of Ann?>');
      expect(textOf(await client.callTool('twice'))).toBe('["<geo: First?>","<geo: Second?>"]');
      expect(textOf(await client.callTool('both'))).toBe('["<geo: Left?>","<geo: Right?>"]');
      expect(jsonOf(await client.callTool('state'))['begun']).toEqual(['Ann']);
    });

    it('passes on errors, progress and log messages', async () => {
      const front = await fronts[kind]();
      const control = new AbortController();
      const onNotification = ({ method }: Notification) => method === 'notifications/message' && control.abort();
      const client = await front.client({ revision, onNotification, principal: { subject: 'ann' } });
      await client.setLogLevel('info');
      const steps: unknown[] = [];
      await client.callTool('steps', { count: 2, ms: 1 }, { onProgress: (...step) => steps.push(step) });
      expect(steps).toEqual([
        [1, 2, undefined],
        [2, 2, undefined],
      ]);
      await expect(client.callTool('refuse')).rejects.toMatchObject({
        code: 4711,
        message: 'Not today.',
        data: { until: 'Monday' },
      });
      await expect(client.callTool('wait', { name: 'one' }, { signal: control.signal })).rejects.toThrow('abort');
      await eventually(async () => expect(jsonOf(await client.callTool('state'))['cancelled']).toEqual(['one']));
    });
  });
});
