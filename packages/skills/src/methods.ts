import { type CacheHint, type Context, type JsonObject, McpError } from '@decorum/core';
import { type Extension, seesResource } from '@decorum/core/plugin';

import { pageOf } from './page.js';
import { hasHints } from './revisions.js';
import { type Skill, SKILL_FILE, type SkillFile, uriOf } from './skill.js';

/** What the methods serve. */
export interface Served {
  /** The skills as they are now, by path and in its order. */
  skills(): ReadonlyMap<string, Skill>;
  readonly pageSize: number;
  readonly cache: CacheHint;
}

/** The methods of the extension. */
export function methodsOf({ skills, pageSize, cache }: Served): NonNullable<Extension['methods']> {
  const hint = ({ revision }: Context, shown: readonly Skill[]) => {
    const isGuarded = shown.some(({ guard }) => Object.keys(guard).length > 0);
    return hasHints(revision) ? { ttlMs: cache.ttlMs, cacheScope: isGuarded ? 'private' : cache.scope } : {};
  };

  return {
    'skills/list': {
      needs: 'list',
      async handle({ cursor }, ctx) {
        const all = [...skills().values()];
        const items = await seenBy(ctx, all);
        const page = pageOf({ items, keyOf: ({ path }) => path, list: 'skills', size: pageSize }, cursor);
        return { skills: page.items.map(entryOf), ...next(page.nextCursor), ...hint(ctx, all) };
      },
    },

    'skills/get': {
      needs: 'read',
      async handle(params, ctx) {
        const uri = requireUri(params);
        const skill = [...skills().values()].find((each) => uriOf(each.path, SKILL_FILE) === uri);
        if (skill === undefined || !(await seesResource(ctx, uri)))
          throw unknown('No skill is served at this URI.', uri);
        return { skill: entryOf(skill), ...hint(ctx, [skill]) };
      },
    },

    'resources/directory/read': {
      needs: 'read',
      async handle(params, ctx) {
        const uri = requireUri(params);
        const found = folderAt(skills(), uri);
        if (found === undefined || !(await seesResource(ctx, uri)))
          throw unknown('No folder of a skill is served at this URI.', uri);
        const items = childrenOf(found.skill, found.folder);
        const page = pageOf({ items, keyOf: (child) => child.uri, list: uri, size: pageSize }, params['cursor']);
        // clients in use reject results without hints, although the specification doesn't ask for them
        return { resources: page.items, ...next(page.nextCursor), ...hint(ctx, [found.skill]) };
      },
    },
  };
}

const next = (nextCursor: string | undefined) => (nextCursor === undefined ? {} : { nextCursor });

async function seenBy(ctx: Context, all: readonly Skill[]): Promise<readonly Skill[]> {
  const seen = await Promise.all(all.map(({ path }) => seesResource(ctx, uriOf(path, SKILL_FILE))));
  return all.filter((_skill, at) => seen[at]);
}

function requireUri({ uri }: JsonObject): string {
  if (typeof uri === 'string') return uri;
  throw new McpError('invalid-params', '"uri" must be a string.');
}

const unknown = (message: string, uri: string) => new McpError('invalid-params', message, { uri: uri.slice(0, 200) });

const entryOf = ({ path, frontmatter, files }: Skill): JsonObject => ({
  uri: uriOf(path, SKILL_FILE),
  frontmatter,
  resources: [...files.values()].map(({ uri, digest, size }) => ({ uri, digest, size })),
});

/** The resource entry of a file, the same in each list. */
export const resourceOf = ({ name, description }: Skill, { path, uri, mimeType, size }: SkillFile) =>
  path === SKILL_FILE
    ? { uri, name, description, mimeType, size }
    : { uri, name: path.slice(path.lastIndexOf('/') + 1), mimeType, size };

function folderAt(skills: ReadonlyMap<string, Skill>, uri: string) {
  for (const skill of skills.values()) {
    // most URIs belong to one skill only
    if (!uri.startsWith(uriOf(skill.path, ''))) continue;
    for (const folder of skill.folders) if (uriOf(skill.path, folder) === uri) return { skill, folder };
  }
  return undefined;
}

/** The files and folders directly in a folder, sorted by URI. */
function childrenOf(skill: Skill, folder: string) {
  const isChild = (path: string) => path !== '' && path.slice(0, Math.max(0, path.lastIndexOf('/'))) === folder;
  const files = [...skill.files.values()].filter(({ path }) => isChild(path)).map((file) => resourceOf(skill, file));
  const folders = [...skill.folders].filter(isChild).map((path) => ({
    uri: uriOf(skill.path, path),
    name: path.slice(path.lastIndexOf('/') + 1),
    mimeType: 'inode/directory',
  }));
  return [...files, ...folders].sort((a, b) => (a.uri < b.uri ? -1 : 1));
}
