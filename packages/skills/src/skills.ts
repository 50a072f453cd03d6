import type { CacheHint, McpServer } from '@decorum/core';
import {
  definePlugin,
  type ExtensionHost,
  type OptionTypes,
  type Plugin,
  requireOptions,
  startupError,
} from '@decorum/core/plugin';

import { Catalog } from './catalog.js';
import { openSource, type Source } from './find-skills.js';
import { methodsOf } from './methods.js';
import type { SkillGuard } from './skill.js';
import { watchFolders } from './watch.js';

const ID = 'io.modelcontextprotocol/skills';

/** A folder of skills, and who may use them. */
export interface SkillFolder extends SkillGuard {
  /** A folder with a `SKILL.md`, or one that has such folders in it. */
  readonly folder: string;
}

/** Options of `skills`. */
export interface SkillsOptions {
  /** Whether edits are served while the server runs. Defaults to true. */
  readonly watch?: boolean;
  /** How long clients may cache skills and their files. By default they don't. */
  readonly cache?: CacheHint;
  /** Cap on the entries of one page of `skills/list` and `resources/directory/read`. Defaults to 100. */
  readonly pageSize?: number;
}

const OPTIONS: OptionTypes<SkillsOptions> = {
  watch: 'boolean',
  cache: { ttlMs: [0, Number.MAX_SAFE_INTEGER], scope: 'string' },
  pageSize: [1, 10_000],
};

const FOLDER: OptionTypes<SkillFolder> = { folder: 'string', access: 'function', scopes: 'array', public: 'boolean' };

const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', 'skills', option, problem);

function sourceOf(given: unknown): Source {
  const entry = typeof given === 'string' ? { folder: given } : given;
  if (typeof entry !== 'object' || entry === null)
    throw wrong('folders', "must be a folder, such as 'skills', or a list of folders");
  requireOptions('skills', entry, FOLDER);
  const { folder, ...guard } = entry as SkillFolder;
  if (typeof folder !== 'string' || folder === '') throw wrong('folder', "is missing. Write { folder: 'skills' }");
  return openSource(folder, guard);
}

function checkOptions({ cache }: SkillsOptions): void {
  if (cache === undefined || (cache.ttlMs >= 0 && ['public', 'private'].includes(cache.scope))) return;
  throw wrong('cache', "must be { ttlMs: 0 or more, scope: 'public' or 'private' }");
}

/**
 * Serves agent skills: folders with a `SKILL.md` and other files. Skills are read when the plugin is created, and again
 * after edits. Clients list them with `skills/list`, and read their files as resources.
 * @param folders a folder, or several. A folder is either a skill or has skills in it, at any depth
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for the first mistake in the options or in a skill
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { skills } from '@decorum/skills';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [skills('skills')] });
 * ```
 */
export const skills: (
  folders: string | SkillFolder | readonly (string | SkillFolder)[],
  options?: SkillsOptions,
) => Plugin = definePlugin(
  (folders: string | SkillFolder | readonly (string | SkillFolder)[], options: SkillsOptions = {}): Plugin => {
    requireOptions('skills', options, OPTIONS);
    checkOptions(options);
    const { watch = true, cache = { ttlMs: 0, scope: 'private' }, pageSize = 100 } = options;
    const sources = [folders].flat().map(sourceOf);
    if (sources.length === 0) throw wrong('folders', 'is empty. Name a folder');
    const catalog = new Catalog(sources, cache);
    let host: ExtensionHost | undefined;
    let close: (() => Promise<void>) | undefined;
    return {
      name: 'skills',
      extensions: [
        {
          id: ID,
          callers: 'all',
          settings: { directoryRead: true },
          methods: methodsOf({ skills: () => catalog.skills, pageSize, cache }),
          open(opened) {
            if (host !== undefined) throw wrong('plugin', 'serves another server already. Create one for each server');
            host = opened;
          },
        },
      ],
      async onStart(server: McpServer) {
        catalog.serve(server);
        if (!watch) return;
        const report = (error: unknown) => host?.report(error);
        const roots = sources.map(({ root }) => root);
        close = await watchFolders(roots, () => catalog.refresh(server, report), report);
      },
      async onClose() {
        await close?.();
      },
    };
  },
);
