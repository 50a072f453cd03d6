import { Command, InvalidArgumentError } from 'commander';

interface Given {
  readonly timeout: number;
  readonly envFile?: string;
  readonly json?: true;
}

/** The longest that a timer can wait. */
const MAX_SECONDS = 2_147_483;

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError('It must be a number of seconds greater than 0.');
}

/** `decorum replay` */
export function replayCommand(): Command {
  return new Command('replay')
    .summary('Makes recorded calls again')
    .description("Makes calls again that `recorder` has kept, with today's code, and compares how they end")
    .argument('<recordings...>', 'recordings, or folders of them, and the file of the program if it has another name')
    .option('--timeout <seconds>', 'time that a call may take', seconds, 30)
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .option('--json', 'print the outcomes as JSON')
    .addHelpText('after', '\nExits with 0 if all calls end as they did, and with 1 if one ends differently.')
    .action(async (operands: readonly string[], { timeout, envFile, json }: Given) => {
      const [{ replayAll }, { readEnv }] = await Promise.all([
        import('../replay/replay.js'),
        import('../start/env-file.js'),
      ]);
      readEnv(envFile);
      await replayAll(operands, { timeoutMs: Math.ceil(timeout * 1000), json: json === true });
    });
}
