import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { RawTransport, Message } from '../support/raw-client.js';

const PROGRAM = fileURLToPath(new URL('one-handler-server.js', import.meta.url));

/** Options of a process. */
export interface Launch {
  /** The value of DECORUM_SECRET. */
  readonly secret: string;
  /** The file that records the effects. */
  readonly effects: string;
  readonly singleUse?: boolean;
}

/** A process with the handlers, and its connection. */
interface Running {
  readonly child: ChildProcess;
  /** Sends a request and returns the text of the response. */
  send(text: string): Promise<string>;
}

/** Starts a process over one transport. */
export type Start = (launch: Launch) => Promise<Running>;

function start({ secret, effects, singleUse }: Launch, ...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args, ...(singleUse ? ['--single-use'] : [])], {
    env: { ...process.env, DECORUM_SECRET: secret, EFFECTS: effects },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error('The process ended and left something unsaid.');
    return value;
  };
  return { child, line };
}

export const overHttp: Start = async (launch) => {
  const { child, line } = start(launch);
  const url = await line();
  return {
    child,
    async send(text) {
      const { method, params } = JSON.parse(text) as Message;
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': String(method),
        'mcp-name': String(params?.['name']),
      };
      return await (await fetch(url, { method: 'POST', headers, body: text })).text();
    },
  };
};

export const overStdio: Start = async (launch) => {
  const { child, line } = start(launch, '--stdio');
  return {
    child,
    async send(text) {
      child.stdin.write(`${text}\n`);
      return await line();
    },
  };
};

async function kill({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Connects to one process for the lifetime of the client. */
export const toProcess =
  (begin: Start, launch: Launch): RawTransport =>
  async (_server, receive) => {
    const process = await begin(launch);
    return { send: async (text) => receive(await process.send(text)), close: () => kill(process) };
  };

/**
 * Sends each message to a new process, which is killed after its response.
 * @param launches options of each process in order; the last one applies to all further processes
 * @param pids receives the process ids
 */
export const toFreshProcesses =
  (begin: Start, launches: readonly Launch[], pids: number[] = []): RawTransport =>
  async (_server, receive) => {
    return {
      async send(text) {
        const process = await begin(launches[Math.min(pids.length, launches.length - 1)] as Launch);
        pids.push(process.child.pid as number);
        let answer: string;
        try {
          answer = await process.send(text);
        } finally {
          await kill(process);
        }
        receive(answer);
      },
      close: () => {},
    };
  };
