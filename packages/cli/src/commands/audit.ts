import { Command } from 'commander';

interface Given {
  readonly keyEnv: string;
  readonly after?: string;
  readonly seen?: string;
  readonly envFile?: string;
  readonly json?: true;
}

const verify = new Command('verify')
  .summary('Tells whether an audit log is as it was written')
  .description('Tells whether an audit log is as it was written: no line was changed,\nremoved, inserted or moved')
  .argument('<files...>', 'files of the log, in the order of writing')
  .option('--key-env <name>', 'variable with the secret', 'DECORUM_SECRET')
  .option('--env-file <file>', 'read variables from a file; those already set win')
  .option('--after <mac>', 'mac of the line before the first file')
  .option('--seen <mac>', 'mac that the log had earlier, and must still have')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nExits with 1 if the log was changed. Lines removed from its end are noticed only\nwith --seen.',
  );

/** `decorum audit` */
export function auditCommand(): Command {
  verify.action(async (files: string[], { keyEnv, envFile, ...options }: Given) => {
    const [{ verified }, { readEnv }] = await Promise.all([
      import('../audit/verified.js'),
      import('../start/env-file.js'),
    ]);
    readEnv(envFile);
    process.stdout.write(`${await verified(files, { secret: keyEnv, ...options })}\n`);
  });
  return new Command('audit').description('Verifies an audit log').addCommand(verify);
}
