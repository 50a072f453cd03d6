/**
 * The neutral model: types that handlers and the kernel work with. It covers everything that any revision sends, except
 * fields that exist only on the wire. `revisions/` translates it to each revision's wire format.
 */

import type { JsonObject } from '@decorum/schema/internal';

/** A request id or progress token: a string or an integer (JSON-RPC 2.0, section 4). */
export type RequestId = string | number;

/** Severity of a log message (RFC 5424, section 6.2.1), least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

/** One of the eight syslog severities. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The author of a message, or the intended audience of content. */
export type Role = 'user' | 'assistant';

/** An image a client may show beside a name (MCP 2025-11-25, `Icon`). */
export interface Icon {
  /** An `https:`, `http:` or `data:` URI. */
  readonly src: string;
  /** Such as `image/png`. */
  readonly mimeType?: string;
  /** Sizes such as `48x48`, or `any` for a scalable format. */
  readonly sizes?: readonly string[];
  /** The background that it is designed for. */
  readonly theme?: 'light' | 'dark';
}

/** Hints about the audience and importance of content (MCP, `Annotations`). */
export interface Annotations {
  /** Whom the content is for. */
  readonly audience?: readonly Role[];
  /** 0 (least important) to 1 (required). */
  readonly priority?: number;
  /** ISO 8601 date and time. */
  readonly lastModified?: string;
}

/** Hints to the client about a tool's side effects (MCP, `ToolAnnotations`). */
export interface ToolAnnotations {
  /** Display name. Prefer the `title` of the tool. */
  readonly title?: string;
  /** The tool changes nothing. Clients assume `false`. */
  readonly readOnlyHint?: boolean;
  /** The tool may delete or overwrite. Clients assume `true`. */
  readonly destructiveHint?: boolean;
  /** Calling again with the same arguments changes nothing more. Clients assume `false`. */
  readonly idempotentHint?: boolean;
  /** The tool reaches beyond a closed set of things, as a web search does. Clients assume `true`. */
  readonly openWorldHint?: boolean;
}

interface Named {
  /** Name for programs. */
  readonly name: string;
  /** Display name for the user. */
  readonly title?: string;
  /** What it is or does. */
  readonly description?: string;
}

/** Name and version of a server or client (MCP, `Implementation`). */
export interface Implementation extends Named {
  /** Its version, such as `1.0.0`. */
  readonly version: string;
  /** Icons that clients may show. */
  readonly icons?: readonly Icon[];
  /** URL of a page about it. */
  readonly websiteUrl?: string;
}

/** Options of every content block. */
export interface BlockOptions {
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /** Metadata, sent with the block. */
  readonly _meta?: JsonObject;
}

/** Text content. */
export interface TextContent extends BlockOptions {
  readonly type: 'text';
  readonly text: string;
}

/** An image: `data` is base64. */
export interface ImageContent extends BlockOptions {
  readonly type: 'image';
  readonly data: string;
  readonly mimeType: string;
}

/** Audio: `data` is base64. */
export interface AudioContent extends BlockOptions {
  readonly type: 'audio';
  readonly data: string;
  readonly mimeType: string;
}

/** The content of one resource: `text`, or `blob` in base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: JsonObject;
}

/** A resource embedded in a message. */
export interface EmbeddedResource extends BlockOptions {
  readonly type: 'resource';
  readonly resource: ResourceContents;
}

/** A link to a resource that the client may read. */
export interface ResourceLink extends Resource {
  readonly type: 'resource_link';
}

/** One block of content (MCP, `ContentBlock`). */
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: Role;
  readonly content: ContentBlock;
}

/** The result of `tools/call`. */
export interface CallToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: JsonObject;
}

/** The result of `resources/read`. */
export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: JsonObject;
}

/** A directory or file the client works in (MCP, `Root`). */
export interface Root {
  /** A `file://` URI. */
  readonly uri: string;
  readonly name?: string;
}

interface ListEntry extends Named {
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** An entry of `tools/list`. */
export interface Tool extends ListEntry {
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

/** An argument of a prompt. */
export interface PromptArgument extends Named {
  readonly required?: boolean;
}

/** An entry of `prompts/list`. */
export interface Prompt extends ListEntry {
  readonly arguments?: readonly PromptArgument[];
}

/** An entry of `resources/list`. */
export interface Resource extends ListEntry {
  readonly uri: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  /** Size in bytes. */
  readonly size?: number;
}

/** An entry of `resources/templates/list`. */
export interface ResourceTemplate extends ListEntry {
  readonly uriTemplate: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
}

/** Capabilities that a client declares (MCP, `ClientCapabilities`). */
export interface ClientCapabilities {
  readonly sampling?: JsonObject;
  readonly elicitation?: JsonObject;
  readonly roots?: JsonObject;
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  readonly experimental?: JsonObject;
}

/** Capabilities that a server declares (MCP, `ServerCapabilities`). */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean };
  readonly prompts?: { readonly listChanged?: boolean };
  readonly resources?: { readonly listChanged?: boolean; readonly subscribe?: boolean };
  readonly completions?: JsonObject;
  readonly logging?: JsonObject;
  readonly experimental?: JsonObject;
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}
