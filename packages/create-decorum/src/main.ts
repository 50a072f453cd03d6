import { createCommand } from './command.js';
import { runProgram } from './program.js';

await runProgram(createCommand('create-decorum'));
