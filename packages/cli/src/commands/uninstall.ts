import { Command } from 'commander';

import { locationOptions } from './install.js';

interface Given {
  readonly scope: 'user' | 'project';
  readonly config?: string;
  readonly name?: string;
  readonly dryRun?: boolean;
}

/** `decorum uninstall` */
export function uninstallCommand(): Command {
  const command = new Command('uninstall')
    .summary('Takes the server out of a client again')
    .description('Takes the server out of the configuration of a client again')
    .argument('<client>', 'client that `decorum install` knows');
  for (const option of locationOptions()) command.addOption(option);
  return command.action(async (id: string, { scope, config, name, dryRun = false }: Given) => {
    const { clientOf } = await import('../install/location.js');
    const { uninstall } = await import('../install/uninstall.js');
    process.stdout.write(uninstall(clientOf(id), { scope, config, name, dryRun }));
  });
}
