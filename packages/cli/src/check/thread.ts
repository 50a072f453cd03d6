/** Checks a program's source in a thread of `decorum dev`, which has requests to relay. */
import { parentPort, workerData } from 'node:worker_threads';

import { warningsOf } from './warnings.js';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of worker_threads has no origin
parentPort?.postMessage(warningsOf([workerData as string]));
