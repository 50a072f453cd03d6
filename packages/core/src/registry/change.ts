import type { JsonObject } from '@decorum/schema/internal';

import type {
  Annotations,
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
  ToolAnnotations,
} from '../protocol/model.js';
import type { Access } from '../protocol/wire.js';

type MemberResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** What a transform changes of a member. `Ctx` is the context of its calls. */
export interface Change<Ctx = object> {
  /** Its new name, before the prefix. For resources, the name to display: the URI stays. */
  readonly name?: string;
  /** Other names of a tool or prompt, in addition to its aliases, and before the prefix. */
  readonly aliases?: readonly (string | { readonly name: string; readonly until?: string })[];
  /** Whether lists have it. `false` leaves it out; clients that know it can still use it. */
  readonly listed?: boolean;
  readonly title?: string;
  readonly description?: string;
  /** Replaces these of its annotations. Not for prompts. */
  readonly annotations?: ToolAnnotations | Annotations;
  /** Replaces a tool's output schema, or removes it. For a `result` with other structured content. */
  readonly outputSchema?: JsonObject | false;
  /**
   * Values of arguments, or of a template's variables. Clients don't see these arguments, and can't set them. Arguments of
   * prompts are strings.
   */
  readonly fix?: JsonObject;
  /** Who may see and use it, besides its own `access`. */
  readonly access?: Access;
  /** Scopes that callers need, in addition to its own. */
  readonly scopes?: readonly string[];
  /** Tags, in addition to its own. */
  readonly tags?: readonly string[];
  /** Changes each result. Not called for errors, except for results of tools with `isError`. */
  result?(result: MemberResult, ctx: Ctx): MemberResult | Promise<MemberResult>;
}

/** A member that a transform may change. */
export interface TransformedMember {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template';
  /** Its own name, without the prefix of its provider. For resources, the URI or the text of the template. */
  readonly name: string;
  /** Its list entry. */
  readonly entry: Tool | Prompt | Resource | ResourceTemplate;
}

/** Changes by the members' own names, or a function that decides about each. `false` hides a member. */
export type Changes<Ctx = object> =
  | Readonly<Record<string, Change<Ctx> | false>>
  | ((member: TransformedMember) => Change<Ctx> | false | undefined);
