// Serves an example over HTTP, whatever its own program serves: `node example-server.js NAME FOLDER`. Its files go to the folder.
import { join } from 'node:path';

import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';

import { createServer } from '../../examples/everything/dist/server.js';
import { FileSystem } from '../../examples/filesystem/dist/file-system.js';
import { AccessDenied, Sandbox } from '../../examples/filesystem/dist/sandbox.js';
import { GraphFile } from '../../examples/memory/dist/graph-file.js';
import { MemoryServer } from '../../examples/memory/dist/memory-server.js';

const [name = '', folder = ''] = process.argv.slice(2);

/** @type {Readonly<Record<string, () => McpServer | Promise<McpServer>>>} */
const EXAMPLES = {
  everything: () => createServer({ secret: 'a secret of at least 32 characters' }),
  memory: () => new MemoryServer(new GraphFile(join(folder, 'graph.json'))),
  async filesystem() {
    const sandbox = await Sandbox.of([folder]);
    return new McpServer({
      name: 'secure-filesystem-server',
      version: '1.0.0',
      providers: [{ provider: FileSystem, scope: 'request' }],
      resolve: () => new FileSystem(sandbox),
      errors: [
        [AccessDenied, (error) => error.message],
        [Error, (error) => ('code' in error ? error.message : undefined)],
      ],
    });
  },
};

const create = EXAMPLES[name];
if (create === undefined) throw new Error(`There is no example ${name}.`);
const { url } = await listen(await create(), { port: 0 });
process.stdout.write(`Listening on ${url}\n`);
