import { Command, InvalidArgumentError } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

interface Given {
  readonly json?: true;
  readonly args?: string;
  readonly revision?: string;
  readonly header?: readonly string[];
  readonly timeout: number;
}

const OPERANDS = `
Target: a file, a URL, or a command after -- (default: src/main.ts)
Verbs:  list [LIST], call TOOL, read URI, get PROMPT, complete PROMPT, listen,
        sign-out. Arguments are key=value or key:=json.`;

function seconds(value: string): number {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number > 0 && number <= 86_400) return number;
  throw new InvalidArgumentError('Pass a number of seconds.');
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function headersOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line) => {
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new CommandFailure(`--header is "${line}". Write 'name: value'.`, EXIT.usage);
    return [name, value];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** `decorum inspect` */
export function inspectCommand(): Command {
  const command = new Command('inspect')
    .description('Shows what an MCP server has, and calls it')
    .usage('[options] [target] [verb] [args...]')
    .argument('[operands...]')
    .option('--json', 'print the result as JSON')
    .option('--args <file>', 'read arguments as JSON from a file, - for stdin')
    .option('--revision <date>', 'speak only this revision of MCP')
    .option('--header <line>', "send 'name: value' to a URL (repeatable)", collect)
    .option('--timeout <seconds>', 'time to wait for an answer', seconds, 60)
    .addHelpText('after', OPERANDS);
  return command.action(async () => {
    const { json = false, args, revision, header = [], timeout } = command.opts<Given>();
    const dashes = process.argv.indexOf('--', 2);
    const program = dashes === -1 ? [] : process.argv.slice(dashes + 1);
    const operands = command.args.slice(0, command.args.length - program.length);
    const { requestOf } = await import('../inspect/request.js');
    const request = requestOf(operands, program);
    const headers = headersOf(header);
    // imported here, because other commands don't need it
    const { inspect } = await import('../inspect/inspect.js');
    await inspect(request, { json, args, revision, headers, timeoutMs: timeout * 1000 });
  });
}
