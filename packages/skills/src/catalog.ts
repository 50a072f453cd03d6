import type { CacheHint, McpServer, Registration } from '@decorum/core';

import { findSkills, type Problem, type Source } from './find-skills.js';
import { providerOf } from './provider.js';
import { isSame, type Skill } from './skill.js';

type Report = (error: Error) => void;

/** The skills of folders, and the members that serve them. */
export class Catalog {
  private current: ReadonlyMap<string, Skill> = new Map();
  private readonly registrations = new Map<string, Registration>();
  /** What was reported of each folder, so that it is reported once. */
  private reported = new Set<string>();

  /** @throws {DecorumError} for the first mistake in a folder */
  constructor(
    private readonly sources: readonly Source[],
    private readonly cache: CacheHint,
  ) {
    const { skills, problems } = findSkills(sources, this.current);
    const [first] = problems;
    if (first !== undefined) throw first.error;
    this.current = skills;
  }

  get skills(): ReadonlyMap<string, Skill> {
    return this.current;
  }

  /** Adds the members of all skills to a server. */
  serve(server: McpServer): void {
    for (const skill of this.current.values()) this.add(server, skill);
  }

  /** Reads the folders again, and tells clients what has changed. Mistakes are reported, and change nothing. */
  refresh(server: McpServer, report: Report): void {
    const before = this.current;
    const { skills, problems } = findSkills(this.sources, before);
    this.current = skills;
    this.tell(problems, report);
    for (const [path, skill] of before) {
      const after = skills.get(path);
      if (after !== undefined && isSame(skill, after)) continue;
      this.registrations.get(path)?.remove();
      this.registrations.delete(path);
      if (after !== undefined) this.add(server, after);
      for (const uri of changedIn(skill, after)) server.notify.resourceUpdated(uri);
    }
    for (const [path, skill] of skills) if (!before.has(path)) this.add(server, skill);
  }

  private add(server: McpServer, skill: Skill): void {
    this.registrations.set(skill.path, server.addProvider(providerOf(skill, this.cache)));
  }

  private tell(problems: readonly Problem[], report: Report): void {
    const messages = new Set(problems.map(({ error }) => error.message));
    for (const { error } of problems) if (!this.reported.has(error.message)) report(error);
    this.reported = messages;
  }
}

const changedIn = (before: Skill, after: Skill | undefined): string[] =>
  [...before.files.values()]
    .filter(({ path, digest }) => after?.files.get(path)?.digest !== digest)
    .map(({ uri }) => uri);
