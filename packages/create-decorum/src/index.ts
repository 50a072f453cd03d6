export { CommandFailure, EXIT, EXIT_CODES } from './failure.js';
export { type Installer, installerOf, type InstallerName } from './installers.js';
export { createCommand } from './command.js';
export { printFailure, runProgram } from './program.js';
export { plainLine, plainText } from './plain-text.js';
