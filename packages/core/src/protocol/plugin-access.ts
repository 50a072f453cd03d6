import type { AccessCaller } from './access-caller.js';
import type { Annotations, ToolAnnotations } from './model.js';
import type { Access, Principal, TransportInfo } from './wire.js';

/** Who asks for a member that plugins decide about. */
export interface PluginCaller extends AccessCaller {
  readonly principal: Principal | undefined;
  readonly transport: TransportInfo;
}

/** A member that plugins decide about. */
export interface PluginMember {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template';
  /** The registered name of a tool or prompt. For resources and templates, the name to display. */
  readonly name: string;
  /** The registered URI of a resource, or the text of a template. Undefined for tools and prompts. */
  readonly uri: string | undefined;
  /** Its tags, with those of its provider and of the mounts that it is served through. */
  readonly tags: readonly string[];
  readonly annotations: ToolAnnotations | Annotations | undefined;
  /** `Class.method`, as in errors. */
  readonly where: string;
}

/** The condition that plugins set for a member. */
export type Gate = (member: PluginMember) => Access;
