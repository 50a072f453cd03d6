import { QuestionError, type Context, McpServer, serveStdio } from '@decorum/core';

import { FileSystem } from './file-system.js';
import { AccessDenied, Sandbox } from './sandbox.js';

const places = process.argv.slice(2);
const defaults = await Sandbox.of(places);

/** The client's roots, if it has any, replace the directories of the command line. */
async function sandboxFor(ctx: Context | undefined): Promise<Sandbox> {
  if (!ctx?.client.capabilities.roots) return defaults;
  const roots = await ctx.roots().catch((error: unknown) => {
    if (!(error instanceof QuestionError)) throw error;
    console.error(`The client didn’t list its roots: ${error.message}`);
    return [];
  });
  const sandbox = await Sandbox.of(roots.map(({ uri }) => uri));
  return sandbox.directories.length > 0 ? sandbox : defaults;
}

const server = new McpServer({
  name: 'secure-filesystem-server',
  version: '1.0.0',
  providers: [{ provider: FileSystem, scope: 'request' }],
  resolve: async (_cls, ctx) => new FileSystem(await sandboxFor(ctx)),
  errors: [
    [AccessDenied, (error) => error.message],
    // errors of Node.js have a code: no such file, permission denied
    [Error, (error) => ('code' in error ? error.message : undefined)],
  ],
});

if (places.length === 0)
  console.error('Usage: filesystem [directory…]. Without any, the client has to name its roots.');
else if (defaults.directories.length === 0) {
  console.error('None of the directories can be served.');
  process.exit(1);
}
// a client that dies while a call computes leaves no process behind
await serveStdio(server, { watchdog: true });
