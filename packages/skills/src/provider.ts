import { type CacheHint, type MemberDecorator, Resource, resourceContents } from '@decorum/core';

import { resourceOf } from './methods.js';
import { type Skill, SKILL_FILE, type SkillFile, uriOf } from './skill.js';

type Contents = (variables: never) => unknown;

/** The variables of the template. */
const INPUT = { type: 'object', properties: { path: { type: 'array', items: { type: 'string' } } } };

/** Applies a decorator to a method of a class. */
function decorate(cls: { readonly prototype: object }, key: string, decorator: MemberDecorator<Contents>): void {
  const descriptor = Object.getOwnPropertyDescriptor(cls.prototype, key) as TypedPropertyDescriptor<Contents>;
  decorator(cls.prototype, key, descriptor);
}

/**
 * Creates the members that serve the files of a skill. Only paths that are in the skill are found, so no path leads out
 * of it.
 */
export function providerOf(skill: Skill, cache: CacheHint): object {
  const { name, path, files, guard } = skill;
  const main = files.get(SKILL_FILE) as SkillFile;
  const read = (file: SkillFile | undefined) =>
    file && { contents: [resourceContents(file.uri, file.content, file.mimeType)] };

  class SkillFiles {
    instructions() {
      return read(main);
    }

    file({ path: parts = [] }: { readonly path?: readonly string[] }) {
      return read(files.get(parts.join('/')));
    }
  }

  const isGuarded = Object.keys(guard).length > 0;
  const shared = { ...guard, cache: isGuarded ? { ...cache, scope: 'private' as const } : cache };
  const { uri, ...entry } = resourceOf(skill, main);
  decorate(SkillFiles, 'instructions', Resource(uri, { ...entry, ...shared }));
  const description = `Files of the skill "${name}"`;
  // it matches the folder too, whose access is checked by this member
  const template = `${uriOf(path, '')}{/path*}`;
  decorate(SkillFiles, 'file', Resource(template, { name: `${name} files`, description, input: INPUT, ...shared }));
  return new SkillFiles();
}
