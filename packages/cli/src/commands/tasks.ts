import { Command } from 'commander';

import type { Request } from '../tasks/messages.js';

interface Given {
  readonly json?: true;
  readonly envFile?: string;
}

async function run(request: Request, entry: string | undefined, { json, envFile }: Given): Promise<void> {
  const [{ tasksOf }, { readEnv }] = await Promise.all([import('../tasks/tasks.js'), import('../start/env-file.js')]);
  readEnv(envFile);
  process.stdout.write(`${await tasksOf(request, { entry, json })}\n`);
}

const command = (usage: string, description: string): Command =>
  new Command(usage)
    .description(description)
    .option('--json', 'print JSON')
    .option('--env-file <file>', 'read variables from a file; those already set win');

const ENTRY = ['[entry]', 'file of the program (default: first of src/{main,server,index}.ts)'] as const;

/** `decorum tasks` */
export function tasksCommand(): Command {
  const list = command('list', 'Lists the tasks of a server')
    .argument(...ENTRY)
    .action(async (entry: string | undefined, given: Given) => await run({ action: 'list' }, entry, given));
  const others = (['show', 'retry', 'cancel'] as const).map((action) =>
    command(action, DESCRIPTIONS[action])
      .argument('<id>', 'id of the task')
      .argument(...ENTRY)
      .action(async (id: string, entry: string | undefined, given: Given) => await run({ action, id }, entry, given)),
  );
  const tasks = new Command('tasks').description('Shows and changes the tasks of a server');
  for (const each of [list, ...others]) tasks.addCommand(each);
  return tasks;
}

const DESCRIPTIONS = {
  show: 'Shows everything that is known of a task',
  retry: 'Lets a task that has failed run again, without what has succeeded',
  cancel: 'Cancels a task',
};
