import { describe, expect, it } from '@jest/globals';
import { type HttpOptions, listen, type ListenOptions, mcp } from '@decorum/http';
import fastify from 'fastify';

import { afterwards, createServer, Probe } from './fixture.js';

const BAD = [
  [{ path: 5 }, '`path` is 5, but must be a path that begins with "/"'],
  [{ path: 'mcp' }, "`path` is 'mcp', but must be a path"],
  [{ allowedHosts: 'mcp.example.com' }, "`allowedHosts` is 'mcp.example.com', but must be an array of strings"],
  [{ allowedHosts: [5] }, '`allowedHosts` is [ 5 ], but must be an array of strings'],
  [
    { allowedOrigins: 'https://app.example.com' },
    "`allowedOrigins` is 'https://app.example.com', but must be an array",
  ],
  [{ legacySse: 'yes' }, '`legacySse` is neither true nor false nor an object with `path` and `messagesPath`'],
  [{ legacySse: { path: 5 } }, '`legacySse.path` is 5, but must be a path'],
  [{ legacySse: { messagesPath: 'messages' } }, "`legacySse.messagesPath` is 'messages', but must be a path"],
  [{ principal: 5 }, '`principal` is not a function that says who is calling'],
  [{ events: 5 }, '`events` is neither false nor a store with the methods `append` and `read`'],
  [{ events: true }, '`events` is neither false nor a store with the methods `append` and `read`'],
  [{ credentialHeaders: 'x-my-token' }, "`credentialHeaders` is 'x-my-token', but must be an array of strings"],
  [{ credentialHeaders: ['x my token'] }, "`credentialHeaders` holds 'x my token', but must list names of headers"],
  [{ credentialHeaders: ['x-my-token:'] }, "`credentialHeaders` holds 'x-my-token:', but must list names of headers"],
  [{ credentialHeaders: [''] }, "`credentialHeaders` holds '', but must list names of headers"],
  [{ credentialHeaders: ['x-*'] }, "`credentialHeaders` holds 'x-*', but must list names of headers"],
  [{ sessions: 'no' }, "`sessions` is 'no', but must be true or false"],
] as const;

const failure = (problem: string) => ({
  code: 'DECORUM_INVALID_OPTION',
  message: expect.stringContaining(`@decorum/http: ${problem}`),
});

describe('an option of an endpoint that cannot be used', () => {
  it.each(BAD)('fails the start: %j', async (options, problem) => {
    const { server } = createServer(new Probe());
    const app = fastify();
    afterwards(() => app.close());
    app.register(mcp, { server, ...(options as unknown as HttpOptions) });
    await expect(app.ready()).rejects.toMatchObject(failure(problem));
    const started = listen(server, { port: 0, ...(options as unknown as ListenOptions) });
    await expect(started).rejects.toMatchObject(failure(problem));
  });

  it('fails the start of listen: signals', async () => {
    const started = listen(createServer(new Probe()).server, { signals: 'x' as never });
    await expect(started).rejects.toMatchObject(failure("`signals` is 'x', but must be true or false"));
  });
});
