import type { Access, JsonObject } from '@decorum/core';

/** Who may use a skill: the options that members have. */
export interface SkillGuard {
  /** Decides who may see and use the skills, and read their files. */
  readonly access?: Access;
  /** Scopes that callers need to get the skills and to read their files. */
  readonly scopes?: readonly string[];
  /** Lets callers without credentials use the skills. */
  readonly public?: boolean;
}

/** One file of a skill, in memory. */
export interface SkillFile {
  /** Relative to the folder of the skill, with `/` as the separator. */
  readonly path: string;
  readonly uri: string;
  readonly mimeType: string;
  /** `sha256:` and the digest in hexadecimal digits. */
  readonly digest: string;
  /** In bytes. */
  readonly size: number;
  /** Text if the type is textual and the bytes are UTF-8. */
  readonly content: string | Uint8Array;
  /** What the file system said when the file was read; undefined if that may say the same of a later edit. */
  readonly stamp: string | undefined;
}

/** A skill, as it was when its folder was read. */
export interface Skill {
  /** The folder of the skill, relative to the folder that is served: its URI without the scheme. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly frontmatter: JsonObject;
  /** By path, in order. */
  readonly files: ReadonlyMap<string, SkillFile>;
  /** Relative paths of the folders in it. The skill's own is ''. */
  readonly folders: ReadonlySet<string>;
  readonly guard: SkillGuard;
}

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';

/** The URI of a file or folder of a skill. */
export const uriOf = (skill: string, path: string): string =>
  `skill://${[skill, ...path.split('/').filter(Boolean)].map((part, at) => (at === 0 ? part : encodeURIComponent(part))).join('/')}`;

/** Whether two readings of a skill are the same to clients. */
export const isSame = (one: Skill, other: Skill): boolean =>
  one.guard === other.guard && manifestOf(one) === manifestOf(other);

const manifestOf = ({ files, folders }: Skill): string =>
  JSON.stringify([[...folders], [...files.values()].map(({ path, digest }) => [path, digest])]);
