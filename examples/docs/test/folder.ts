import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const START = `# Getting started

Everything begins here.

## Install the server

\`\`\`sh
# not a heading
npm install
\`\`\`

## Session timeout

A session ends after thirty minutes of silence.

### Changing the timeout

Set it in the options.

## Next steps

Read the reference.
`;

const PAGES: Record<string, string> = {
  'docs/README.md': '# Welcome\n\nStart with the [guide](guide/start.md).\n',
  'docs/guide/start.md': START,
  'docs/guide/über uns.md': '# Über uns\n\nWir mögen Märchen.\n',
  "docs/odd (a&b), c=d+e; it's!.md": '# Odd\n',
  'docs/untitled.md': 'Nothing but text, and a word about timeouts.\n',
  'docs/.hidden.md': '# SECRET\n',
  'docs/.git/config.md': '# SECRET\n',
  'docs/node_modules/pkg/README.md': '# SECRET\n',
  'docs/notes.txt': 'SECRET\n',
  'docs-private/plan.md': '# SECRET\n',
  'package.json': '{ "SECRET": true }\n',
  'outside.md': '# SECRET\n',
};

const LINKS: Record<string, string> = {
  'docs/alias.md': 'README.md',
  'docs/out.md': '../outside.md',
  'docs/sibling.md': '../docs-private/plan.md',
  'docs/sneaky.md': '.hidden.md',
  'docs/loop.md': 'loop.md',
  'docs/outer': '../docs-private',
};

/** Creates a folder of pages, surrounded by files that must not be served. */
export async function makeFolder(): Promise<{ docs: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'decorum-docs-'));
  for (const [path, text] of Object.entries(PAGES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const [path, target] of Object.entries(LINKS)) await symlink(target, join(root, path));
  return { docs: join(root, 'docs'), remove: () => rm(root, { recursive: true }) };
}
