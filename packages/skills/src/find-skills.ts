import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { broken } from './frontmatter.js';
import { readSkill, type SkillPlace, visibleIn } from './read-skill.js';
import { type Skill, SKILL_FILE, type SkillGuard } from './skill.js';

/** A folder of skills. */
export interface Source {
  /** As the user wrote it, for errors. */
  readonly shown: string;
  /** Its real path. */
  readonly root: string;
  readonly guard: SkillGuard;
}

/** A mistake in a folder. What it has served so far, it still serves. */
export interface Problem {
  /** The folder, or '' for all of them. */
  readonly path: string;
  readonly source: Source;
  readonly error: Error;
}

/** What folders have. */
export interface Found {
  /** By path. */
  readonly skills: ReadonlyMap<string, Skill>;
  readonly problems: readonly Problem[];
}

/**
 * Finds a folder of skills.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if there is none
 */
export function openSource(shown: string, guard: SkillGuard): Source {
  if (!existsSync(shown) || !statSync(shown).isDirectory())
    throw broken('skills', 'folder', `is "${shown}", where there is no folder. Name one that has skills`);
  return { shown, root: realpathSync(shown), guard };
}

const GROUP = /^[a-z0-9](?:[\w.~-]*[a-z0-9])?$/i;

/**
 * Reads all skills of all folders.
 * @param known the skills as they were before. They stay as they are where there is a problem
 */
export function findSkills(sources: readonly Source[], known: ReadonlyMap<string, Skill>): Found {
  const skills = new Map<string, Skill>();
  const problems: Problem[] = [];
  const names = new Map<string, string>();
  /** Keeps what is served of a folder with a problem. */
  const keep = (problem: Problem) => {
    problems.push(problem);
    const { path, source } = problem;
    for (const skill of known.values()) {
      const isOf = path === '' || skill.path === path || skill.path.startsWith(`${path}/`);
      if (!isOf || skill.guard !== source.guard || skills.has(skill.path)) continue;
      skills.set(skill.path, skill);
      names.set(skill.name, join(source.shown, skill.path));
    }
  };
  const guarded = (path: string, source: Source, read: () => void) => {
    try {
      read();
    } catch (error) {
      keep({ path, source, error: error as Error });
    }
  };
  const places = sources.flatMap((source) => {
    const found: SkillPlace[] = [];
    guarded('', source, () => placesIn(source, '', { found, guarded }));
    return found.map((place) => ({ place, source }));
  });
  // those that are served already come first: a new one can't take the name of another
  const ordered = [...places.filter(isKnown(known)), ...places.filter((each) => !isKnown(known)(each))];
  for (const { place, source } of ordered) {
    guarded(place.path, source, () => {
      const skill = readSkill(place, known.get(place.path));
      const other = names.get(skill.name);
      if (other !== undefined)
        throw broken(join(place.shown, SKILL_FILE), 'name', `is also that of ${other}. Rename one of them`);
      names.set(skill.name, place.shown);
      skills.set(skill.path, skill);
    });
  }
  return { skills: new Map([...skills].sort(([a], [b]) => (a < b ? -1 : 1))), problems };
}

const isKnown =
  (known: ReadonlyMap<string, Skill>) =>
  ({ place }: { readonly place: SkillPlace }): boolean =>
    known.get(place.path)?.guard === place.guard;

interface Finding {
  readonly found: SkillPlace[];
  guarded(path: string, source: Source, read: () => void): void;
}

/** Adds the skills in a folder: the folder itself if it has a `SKILL.md`, or else those of the folders in it. */
function placesIn(source: Source, path: string, { found, guarded }: Finding): void {
  const folder = join(source.root, path);
  const shown = join(source.shown, path);
  const entries = visibleIn(folder);
  if (entries.some(({ name }) => name === SKILL_FILE)) {
    found.push({ folder, shown, path: path === '' ? basename(source.root) : path, guard: source.guard });
    return;
  }
  let isEmpty = true;
  for (const entry of entries) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    if (!entry.isDirectory() && !entry.isSymbolicLink()) continue;
    isEmpty = false;
    guarded(inner, source, () => {
      const where = join(source.shown, inner);
      if (entry.isSymbolicLink())
        throw broken(where, 'link', 'leads out of the folder of skills. Copy what it leads to');
      if (!GROUP.test(entry.name)) throw broken(where, 'name', 'must be letters, digits, hyphens and dots. Rename it');
      placesIn(source, inner, { found, guarded });
    });
  }
  if (isEmpty) throw broken(shown, SKILL_FILE, 'is missing. Add it, or remove the folder');
}
