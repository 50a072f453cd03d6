import type { JsonObject } from '@decorum/schema/internal';

import type { Context } from './kernel/context.js';
import type {
  Annotations,
  CallToolResult,
  GetPromptResult,
  ReadResourceResult,
  ToolAnnotations,
} from './protocol/model.js';
import type { Access } from './protocol/wire.js';
import type { TransformedMember } from './registry/change.js';

type MemberResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** What `transform` changes of a member. */
export interface MemberChange {
  /** Its new name, before the prefix. For resources, the name to display: the URI stays. */
  readonly name?: string;
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
  result?(result: MemberResult, ctx: Context): MemberResult | Promise<MemberResult>;
}

/**
 * What to change of a provider's members: changes by the members' own names, or a function that decides about each. For
 * resources, the name is the URI or the text of the template. `false` hides a member. A name that no member has is an
 * error, so write a function for lists that change.
 */
export type Transform =
  | Readonly<Record<string, MemberChange | false>>
  | ((member: TransformedMember) => MemberChange | false | undefined);
