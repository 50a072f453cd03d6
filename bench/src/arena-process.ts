import { Socket } from 'node:net';

import { Arena, type Question } from './arena.js';
import { FIRST_PIPE } from './child.js';

// One start: a process with an arena in it, which answers the process that started it.

let pipes = 0;
const arena = new Arena(() => {
  const socket = new Socket({ fd: FIRST_PIPE + pipes, readable: true, writable: true });
  pipes += 1;
  return { input: socket, output: socket };
});
process.on('message', (question: Question) => void arena.answer(question).then((answer) => process.send?.(answer)));
// without the process that measures there is nothing left to do
process.on('disconnect', () => process.exit());
