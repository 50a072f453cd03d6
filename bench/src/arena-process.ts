import { Socket } from 'node:net';

import { Arena, type Question } from './arena.js';
import { FIRST_PIPE } from './child.js';

// The measured process of one start. It hosts an arena and answers its parent's questions.

let pipes = 0;
const arena = new Arena(() => {
  const socket = new Socket({ fd: FIRST_PIPE + pipes, readable: true, writable: true });
  pipes += 1;
  return { input: socket, output: socket };
});
process.on('message', (question: Question) => void arena.answer(question).then((answer) => process.send?.(answer)));
// exit with the parent
process.on('disconnect', () => process.exit());
