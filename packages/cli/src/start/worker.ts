/** The part of `decorum start --workers` that runs in each worker. */
import { clusterHub } from '@decorum/http/cluster';

import { type EndMessage, SIGNALS } from './end-message.js';
import { RANDOM_SECRET } from './random-secret.js';

/** Adds to the options of each server that the program creates. `McpServer` looks for it. */
const CLUSTER = Symbol.for('decorum:cluster');

/** The options of a server that matter here. */
interface Options {
  readonly cluster?: object;
  readonly secret?: unknown;
}

/** Connects this process to the others. Call it before the program loads. */
export function joinWorkers(): void {
  const random = process.env[RANDOM_SECRET];
  // what the program itself starts has no use for it
  delete process.env[RANDOM_SECRET];
  (globalThis as { [CLUSTER]?: (own: Options) => Options })[CLUSTER] = (own) => {
    // a random secret isn't for what outlives these processes
    if (own.cluster !== undefined) return own;
    const secret = process.env['DECORUM_SECRET'] === undefined ? (own.secret ?? random) : own.secret;
    return { ...own, cluster: clusterHub(), ...(secret !== undefined && { secret }) };
  };
  endOnce();
  exitWhenIdle();
}

/** Milliseconds between looks at what a program waits for, and the number of looks at which it waits for nothing. */
const LOOK_MS = 250;
const IDLE_LOOKS = 8;

/**
 * Lets the process end once the program waits for nothing, as it would without workers. The channel to the primary keeps a
 * worker alive, and has to while an answer is due that the program needs in order to listen. Later it need not: what
 * Node.js doesn't list, such as work in its thread pool, keeps the worker alive by itself.
 */
function exitWhenIdle(): void {
  const { stdout, stderr, channel } = process;
  const send = process.send?.bind(process) as (...args: unknown[]) => boolean;
  let looks = 0;
  process.send = ((...args: unknown[]) => {
    channel?.ref();
    // the answer may take a while on a busy machine
    looks = 0;
    return send(...args);
  }) as NonNullable<typeof process.send>;
  // both are opened when they are first used, and listed from then on
  const own = process.getActiveResourcesInfo().length;
  setInterval(() => {
    const resources = process.getActiveResourcesInfo();
    const isIdle = resources.length <= own && resources.every((each) => /^(?:PipeWrap|TTYWrap)$/.test(each));
    looks = isIdle && stdout.writableLength + stderr.writableLength === 0 ? looks + 1 : 0;
    if (looks >= IDLE_LOOKS) channel?.unref();
  }, LOOK_MS).unref();
}

/**
 * Lets the program see only the first signal. A terminal or a service manager may signal all processes of the command,
 * and the primary tells its workers as well. The program would take the second one for a request to end at once.
 */
function endOnce(): void {
  const emit = process.emit.bind(process) as (event: string, ...args: unknown[]) => boolean;
  let isEnding = false;
  const once = (event: string, ...args: unknown[]) => {
    if (!SIGNALS.includes(event as NodeJS.Signals)) return emit(event, ...args);
    if (isEnding) return true;
    isEnding = true;
    const isHandled = process.listenerCount(event) > 0;
    // without a listener, the system itself would end the process on the next signal
    for (const each of SIGNALS) process.on(each, () => {});
    emit(event, ...args);
    return isHandled;
  };
  process.emit = once as typeof process.emit;
  process.on('message', (message: Partial<EndMessage> | undefined) => {
    if (message?.decorum !== 'end') return;
    // while it still loads, the program doesn't listen yet
    if (!once(message.signal as string, message.signal)) process.exit();
  });
}
