import type { JsonObject } from '@decorum/core';

/** What a server lists, and how many tokens its list of tools takes. */
export interface Lists {
  /** The name of the server. */
  readonly server: string;
  readonly tools: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  /** An estimate for the list of tools. */
  readonly tokens: number;
  /** Whether `@decorum/search` lists only a few of the tools. */
  readonly isShort: boolean;
}

/** Something that a rule has found. */
export interface Spot {
  /** The name of a tool or prompt, a URI, or the name of the server for what is wrong with a whole list. */
  readonly member: string;
  /** Where in the member: `input.address.city`. Empty for the member itself. */
  readonly path: string;
  readonly why: string;
}

/** The clients that have rules. The rules of `all` hold whatever the client is. */
export const CLIENTS = ['all', 'claude', 'claude-code', 'cursor', 'gemini', 'openai', 'vscode', 'windsurf'] as const;

/** One of `CLIENTS`. */
export type ClientName = (typeof CLIENTS)[number];

/** What a client refuses or cuts. */
export interface Rule {
  readonly name: string;
  readonly client: ClientName;
  /** `error` if the client refuses the tool or all requests; `warning` if it cuts or ignores something, or only some versions refuse it. */
  readonly severity: 'error' | 'warning';
  /** What the rule is about, for the documentation. */
  readonly about: string;
  /** What to change. */
  readonly fix: string;
  /** URL of a public page that says so. */
  readonly source: string;
  readonly find: (lists: Lists) => Iterable<Spot>;
}

/** A spot that a rule has found, as `--json` prints it. */
export interface Finding extends Spot {
  readonly client: ClientName;
  readonly rule: string;
  readonly severity: Rule['severity'];
  readonly fix: string;
  readonly source: string;
}
