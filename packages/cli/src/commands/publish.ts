import { Command } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

interface Given {
  readonly print?: true;
  readonly write?: true;
  readonly check?: true;
  readonly url?: string;
  readonly mcpb?: string;
  readonly envFile?: string;
}

/** `decorum publish` */
export function publishCommand(): Command {
  return new Command('publish')
    .summary('Makes server.json for the MCP registry')
    .description('Makes and checks server.json, which the MCP registry takes. Sends nothing')
    .argument('[entry]', 'file of the program (default: first of src/{main,server,index}.ts)')
    .option('--print', 'print server.json')
    .option('--write', 'write server.json')
    .option('--check', 'fail if server.json is out of date')
    .option('--url <url>', 'where the server is deployed (default: as in server.json)')
    .option('--mcpb <url>', 'where NAME.mcpb can be downloaded (default: as in server.json)')
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .action(async (entry: string | undefined, { envFile, url, mcpb, ...given }: Given) => {
      const [action, another] = (['print', 'write', 'check'] as const).filter((each) => given[each]);
      if (action === undefined || another !== undefined) {
        throw new CommandFailure('Pass one of --print, --write and --check. Nothing is sent.', EXIT.usage);
      }
      // imported here, because other commands don't need them
      const [{ publish }, { readEnv }] = await Promise.all([
        import('../publish/publish.js'),
        import('../start/env-file.js'),
      ]);
      readEnv(envFile);
      const places = { ...(url !== undefined && { url }), ...(mcpb !== undefined && { mcpb }) };
      process.stdout.write(await publish(entry, action, places));
    });
}
