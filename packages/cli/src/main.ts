import { createRequire } from 'node:module';

import { Command, Help } from 'commander';
import { createCommand, EXIT, runProgram } from 'create-decorum';

import { addCommand } from './commands/add.js';
import { auditCommand } from './commands/audit.js';
import { buildCommand } from './commands/build.js';
import { devCommand } from './commands/dev.js';
import { diffCommand } from './commands/diff.js';
import { doctorCommand } from './commands/doctor.js';
import { evalCommand } from './commands/eval.js';
import { hashPasswordCommand } from './commands/hash-password.js';
import { inspectCommand } from './commands/inspect.js';
import { installCommand } from './commands/install.js';
import { lintCommand } from './commands/lint.js';
import { lockCommand } from './commands/lock.js';
import { publishCommand } from './commands/publish.js';
import { replayCommand } from './commands/replay.js';
import { startCommand } from './commands/start.js';
import { tasksCommand } from './commands/tasks.js';
import { uninstallCommand } from './commands/uninstall.js';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const program: Command = new Command('decorum')
  .version(version, '--version', 'print the version')
  .option('--debug', 'print the stack of an error')
  // `decorum help start` works; its line and a description of the program would not fit into 80 by 24
  .configureHelp({
    visibleCommands: ({ commands }) => [...commands],
    visibleOptions: (command) => (command === program ? [] : new Help().visibleOptions(command)),
  })
  .addHelpText('after', '\nOptions: --help, --version, --debug (print the stack of an error)')
  .exitOverride();
const commands = [
  createCommand('new'),
  devCommand(),
  startCommand(),
  buildCommand(),
  installCommand(),
  uninstallCommand(),
  publishCommand(),
  addCommand(),
  lockCommand(),
  diffCommand(),
  tasksCommand(),
  auditCommand(),
  inspectCommand(),
  lintCommand(),
  replayCommand(),
  evalCommand(),
  doctorCommand(),
  hashPasswordCommand(),
];
// `addCommand` doesn't copy the settings of the program
for (const command of commands) {
  program.addCommand(command.copyInheritedSettings(program));
  for (const nested of command.commands) nested.copyInheritedSettings(program);
}

// `decorum … | head` closes the pipe. Servers watch their output themselves: calls in flight finish
program.hook('preAction', (_program, action) => {
  if (['dev', 'start'].includes(action.name())) return;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT.interrupted);
  });
});

await runProgram(program);
