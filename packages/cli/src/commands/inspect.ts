import { Command, InvalidArgumentError } from 'commander';
import { collect, headersOf } from '../headers.js';
import type { InspectOptions } from '../inspect/inspect.js';

interface Given {
  readonly json?: true;
  readonly args?: string;
  readonly revision?: string;
  readonly header?: readonly string[];
  readonly answer?: readonly string[];
  readonly root?: readonly string[];
  readonly uri?: readonly string[];
  readonly idempotencyKey?: string;
  readonly save?: string;
  readonly browser: boolean;
  readonly ui?: true;
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

/** `decorum inspect` */
export function inspectCommand(): Command {
  const command = new Command('inspect')
    .description('Shows what an MCP server has, and calls it')
    .usage('[options] [target] [verb] [args...]')
    .argument('[operands...]')
    .option('--json', 'print the result as JSON')
    .option('--args <file>', 'read arguments as JSON from a file, - for stdin')
    .option('--answer <json>', 'answer a question: an object, accept or decline (repeatable)', collect)
    .option('--root <folder>', 'offer a folder as a root (repeatable)', collect)
    .option('--uri <uri>', 'listen to a resource, too (repeatable)', collect)
    .option('--save <path>', 'save images, audio and bytes in a file or folder')
    .option('--revision <date>', 'speak only this revision of MCP')
    .option('--header <line>', "send 'name: value' to a URL (repeatable)", collect)
    .option('--idempotency-key <key>', 'call a tool once for this key')
    .option('--timeout <seconds>', 'time to wait for an answer', seconds, 60)
    .option('--no-browser', 'print the URLs of pages, and open none')
    .option('--ui', 'open the official inspector (needs Node.js 22.19)')
    .addHelpText('after', OPERANDS);
  return command.action(async () => {
    const given = command.opts<Given>();
    const dashes = process.argv.indexOf('--', 2);
    const program = dashes === -1 ? [] : process.argv.slice(dashes + 1);
    const operands = command.args.slice(0, command.args.length - program.length);
    const { requestOf } = await import('../inspect/request.js');
    const request = requestOf(operands, program);
    if (given.ui) return await (await import('../inspect/ui.js')).openInspector(request);
    if (request.verb === 'sign-out') return (await import('../inspect/sign-out.js')).signOut(request.target);
    // imported here, because other commands don't need it
    const { inspect } = await import('../inspect/inspect.js');
    await inspect(request, optionsOf(given));
  });
}

const optionsOf = ({ header = [], answer = [], root = [], uri = [], ...given }: Given): InspectOptions => ({
  json: given.json === true,
  args: given.args,
  idempotencyKey: given.idempotencyKey,
  save: given.save,
  revision: given.revision,
  headers: headersOf(header),
  timeoutMs: given.timeout * 1000,
  answers: answer,
  roots: root,
  uris: uri,
  usesBrowser: given.browser,
});
