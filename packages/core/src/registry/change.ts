import type { JsonObject } from '@decorum/schema/internal';

import type { Annotations, Prompt, Resource, ResourceTemplate, Tool, ToolAnnotations } from '../protocol/model.js';
import type { Access } from '../protocol/wire.js';

/** What a transform changes of a member. */
export interface Change {
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: ToolAnnotations | Annotations;
  readonly outputSchema?: JsonObject | false;
  readonly fix?: JsonObject;
  readonly access?: Access;
  readonly scopes?: readonly string[];
  readonly tags?: readonly string[];
  result?(result: object, context: object): unknown;
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
export type Changes =
  | Readonly<Record<string, Change | false>>
  | ((member: TransformedMember) => Change | false | undefined);
