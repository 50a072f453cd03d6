export { CommandFailure, EXIT } from './failure.js';
export { createCommand } from './command.js';
export { runProgram } from './program.js';
