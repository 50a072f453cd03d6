import { Command } from 'commander';

/** `decorum doctor` */
export function doctorCommand(): Command {
  return new Command('doctor')
    .summary('Looks for what keeps a project from working')
    .description('Looks for what keeps a project from working: versions, settings, copies of packages, output')
    .argument('[entry]', 'file of the program (default: first of src/{main,server,index}.ts)')
    .option('--json', 'print all results as JSON')
    .action(async (entry: string | undefined, { json }: { readonly json?: true }) => {
      const { doctor } = await import('../doctor/doctor.js');
      await doctor({ entry, json: json === true });
    });
}
