import { Socket } from 'node:net';

import { FIRST_PIPE } from '../child.js';
import { Host, type Question } from './host.js';

// The attacked process. It hosts the target and answers its parent's questions.

let pipes = 0;
const host = new Host(() => {
  const socket = new Socket({ fd: FIRST_PIPE + pipes, readable: true, writable: true });
  pipes += 1;
  return { input: socket, output: socket };
}, globalThis.gc);
process.on('message', (question: Question) => void host.answer(question).then((answer) => process.send?.(answer)));
// exit with the parent
process.on('disconnect', () => process.exit());
