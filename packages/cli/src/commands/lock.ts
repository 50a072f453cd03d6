import { Command } from 'commander';

interface Given {
  readonly out?: string;
  readonly json?: true;
  readonly envFile?: string;
}

/** `decorum lock` */
export function lockCommand(): Command {
  return new Command('lock')
    .summary('Records what clients can rely on')
    .description('Writes what clients see of the server, for `decorum diff` to compare with')
    .argument('[entry]', 'file of the program (default: first of src/{main,server,index}.ts)')
    .option('--out <file>', 'file to write (default: decorum.lock.json)')
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .option('--json', 'print what was written as JSON')
    .action(async (entry: string | undefined, { out, json, envFile }: Given) => {
      const [{ describe, lock }, { LOCK_FILE }, { readEnv }] = await Promise.all([
        import('../contract/lock.js'),
        import('../contract/lock-file.js'),
        import('../start/env-file.js'),
      ]);
      readEnv(envFile);
      const locked = await lock(entry, out ?? LOCK_FILE);
      process.stdout.write(`${json ? JSON.stringify(locked) : describe(locked)}\n`);
    });
}
