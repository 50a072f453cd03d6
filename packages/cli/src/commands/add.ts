import { Argument, Command } from 'commander';

import type { Kind } from '../add/names.js';

const EXAMPLES = `
Examples:
  decorum add tool alerts                         to the only class with members
  decorum add resource station --to src/weather.ts
  decorum add prompt pack --to src/weather.ts:14  to the class at line 14
  decorum add completion pack/city                for an argument of a prompt
  decorum add completion city                     for all that have the argument
  decorum add openapi petstore.yaml               operations of a document

The test runs with vitest, or with jest if the project uses it.`;

const KINDS: readonly Kind[] = ['tool', 'resource', 'prompt', 'completion'];

/** `decorum add` */
export function addCommand(): Command {
  return new Command('add')
    .summary('Adds a member with a DTO and a test')
    .description('Adds a working member, its DTO and a test to a class, or an OpenAPI document')
    .addArgument(new Argument('<kind>', 'what to add').choices([...KINDS, 'openapi']))
    .argument('<name>', 'what clients call it; for a completion, what it completes; for openapi, the document')
    .option('--to <file>', 'file of the class, or file:line')
    .addHelpText('after', EXAMPLES)
    .action(async (kind: Kind | 'openapi', name: string, { to }: { to?: string }) => {
      // imported here, because other commands don't need the parser
      const { planAddition } = await import('../add/add.js');
      const { planDocument } = await import('../add/add-document.js');
      const { writeFiles } = await import('../add/write-files.js');
      const { changes, report } = kind === 'openapi' ? planDocument(name, to) : await planAddition({ kind, name, to });
      writeFiles(changes);
      process.stdout.write(`${report.join('\n')}\n`);
    });
}
