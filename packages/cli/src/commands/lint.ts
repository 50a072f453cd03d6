import { Command } from 'commander';

interface Given {
  readonly client?: readonly string[];
  readonly json?: true;
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `decorum lint` */
export function lintCommand(): Command {
  return new Command('lint')
    .summary('Says what clients refuse of a server')
    .description('Says what known clients refuse or cut of the lists of a server, and what to change')
    .argument('[entry]', 'file of the program (default: first of src/{main,server,index}.ts)')
    .option(
      '--client <name>',
      'only the rules of a client: claude, claude-code, cursor, gemini, openai, vscode or windsurf (repeatable)',
      collect,
    )
    .option('--json', 'print all findings as JSON')
    .action(async (entry: string | undefined, { client = [], json }: Given) => {
      const { lint } = await import('../lint/lint.js');
      await lint({ entry, clients: client, json: json === true });
    });
}
