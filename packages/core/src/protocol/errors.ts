import { branded, errorsOf, isMade, type MessageTable, SCHEMA_ERRORS } from '@decorum/schema/internal';

import type { FailureCause } from './failure-cause.js';

/**
 * The two tables in this file list the startup errors and protocol errors of the server and its transports. The schema
 * package has those of DTOs and options, and the packages above have their own. `docs/reference/errors.md` describes each row, and
 * a test keeps the page in sync.
 */
const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(', ') || 'none';

const UNHIDE = 'Decorate a method, and remove what hides it, such as a field of the same name';

/** Mistakes found at startup. Each message says what is wrong, where, and how to fix it. */
const MESSAGES = {
  DECORUM_NOTHING_HIDDEN: (where: string) =>
    `${where} is decorated with @Hidden, but no base class has a decorated member of that name. Correct the name, or remove @Hidden.`,
  DECORUM_NOT_A_METHOD: (where: string, kind: string, remedy = UNHIDE) =>
    `${where} is decorated as a ${kind}, and the provider has no such method. ${remedy}.`,
  DECORUM_NO_MEMBERS: (cls: string) =>
    `${cls} is a provider without decorated methods. Decorate one with @Tool, @Resource, @Prompt or @Completion, or remove the class from \`providers\`.`,
  DECORUM_BAD_PROVIDER: (found: string, remedy = 'List classes, ready instances, or { provider, prefix }') =>
    `\`providers\` contains ${found}. ${remedy}.`,
  DECORUM_CONSTRUCTOR_ARGUMENTS: (cls: string, count: number, or = 'set `resolve` to get instances from a container') =>
    `The constructor of ${cls} takes ${count === 1 ? 'an argument' : `${count} arguments`}, but nothing provides ${count === 1 ? 'it' : 'them'}. Pass an instance, \`providers: [new ${cls}(…)]\`, or ${or}. If the arguments are optional, give them default values.`,
  DECORUM_MISSING_INPUT: (where: string, problem: string) =>
    `${where}: no schema can be inferred from the first parameter: ${problem}.`,
  DECORUM_INVALID_PARAMETER: (where: string, problem: string, signature: string) =>
    `${where}: ${problem}. Write \`${where.slice(where.lastIndexOf('.') + 1)}${signature}\`.`,
  DECORUM_DUPLICATE_NAME: (
    kind: string,
    name: string,
    { one, other, remedy }: Readonly<Record<'one' | 'other' | 'remedy', string>>,
  ) =>
    `Two ${kind}s ${kind.startsWith('resource') ? 'serve' : 'are called'} "${name}": ${one} and ${one === other ? 'again ' : ''}${other}. ${remedy}.`,
  DECORUM_INVALID_NAME: (where: string, name: string) =>
    `${where}: "${name}" is not a valid name. Use 1 to 128 characters from A–Z, a–z, 0–9, "_", "-" and ".".`,
  DECORUM_DANGLING_COMPLETION: (where: string, target: string, known: Iterable<string>) =>
    `${where} completes "${target}", which is not a @Prompt or templated @Resource of the class. Name the method of one: ${quoted(known)}.`,
  DECORUM_UNKNOWN_ARGUMENT: (where: string, argument: string, known: Iterable<string>) =>
    `${where} completes the argument "${argument}", which its target does not have. Name one that it has: ${quoted(known)}.`,
  DECORUM_DUPLICATE_COMPLETION: (where: string, argument: string, target: string) =>
    `${where} completes "${argument}" of "${target}", which already has a @Completion. Remove one.`,
  DECORUM_DANGLING_LIST: (where: string, member: string) =>
    `${where}: \`list: '${member}'\` does not name a method of the class. Name the method that lists the template's resources.`,
  DECORUM_BAD_TEMPLATE: (where: string, template: string, reason: string) =>
    `${where}: "${template}" is not a URI template (RFC 6570): ${reason}. Write variables as in "docs://{id}" or "docs://{+path}".`,
  DECORUM_BAD_URI: (where: string, uri: string, remedy = 'Begin with a scheme, as in "docs://readme"') =>
    `${where}: "${uri}" is not an absolute URI (RFC 3986). ${remedy}.`,
  DECORUM_TEMPLATE_VARIABLE: (where: string, variable: string, known: Iterable<string>) =>
    `${where}: the template variable "${variable}" has no field in the DTO. Add the field, or name one that the DTO has: ${quoted(known)}.`,
  DECORUM_TEMPLATE_FIELD: (where: string, field: string, known: Iterable<string>) =>
    `${where}: the required DTO field "${field}" is not a variable of the template, so no URI can provide it. Variables: ${quoted(known)}. Add it to the template or mark it @IsOptional().`,
  DECORUM_OBJECT_ARGUMENT: (where: string, field: string) =>
    `${where}: the argument "${field}" takes objects, but prompt and template arguments are strings. Move its fields to the DTO itself, or accept the object as JSON text: \`${field}: string\`.`,
  DECORUM_INVALID_HEADER: (where: string, header: string, problem: string) =>
    `${where}: the header "${header}" ${problem}. Give @McpHeader (x-mcp-header) a unique token, and put it on a string, integer or boolean property.`,
  DECORUM_RESERVED_MEMBER: (where: string) =>
    `${where} has the same name as a method that the server itself has or calls. Rename the method, and set the option \`name\` to keep the name that clients see.`,
  DECORUM_INVALID_EXTENSION: (id: string, problem: string) => `The extension "${id}" ${problem}.`,
  DECORUM_INVALID_PLUGIN: (problem: string) => `\`plugins\` contains ${problem}.`,
  DECORUM_DUPLICATE_PLUGIN: (name: string) =>
    `Two plugins are called "${name}". List each plugin once. To use it twice, give one of them another \`name\`.`,
  DECORUM_MISSING_PLUGIN: (name: string, needed: string, known: Iterable<string>) =>
    `The plugin "${name}" needs the plugin "${needed}", which the server does not have. Add it to \`plugins\`, which contains ${quoted(known)}.`,
  DECORUM_DUPLICATE_ROUTE: (route: string, [one, other]: readonly [string, string]) =>
    `${route} belongs to ${one} and to ${other}. Give one of them another path.`,
  DECORUM_PLUGIN_FAILED: (name: string, error: unknown) =>
    `The plugin "${name}" could not start: ${error instanceof Error ? error.message : String(error)}. See \`cause\` of this error.`,
  DECORUM_NO_AUTHORIZATION: (where: string, member: string, remedy: string) =>
    `${where}: ${member} needs scopes, but nothing tells the server who calls. ${remedy}.`,
  DECORUM_MOUNT_CIRCLE: (path: readonly string[]) =>
    `A server can't mount itself, directly or through others: ${path.join(' → ')}. Remove one of these mounts.`,
  DECORUM_BAD_MOUNT: (server: string, problem: string) => `The server "${server}" ${problem}.`,
  DECORUM_SERVER_CLOSED: () => 'The server is closed. Create a new one to serve again.',
} satisfies MessageTable;

type CoreErrors = typeof MESSAGES;

declare module '@decorum/schema/internal' {
  interface StartupErrors extends CoreErrors {}
}

/** The messages of this package and of the schema package, to which packages above add theirs. */
export const CORE_ERRORS = { ...SCHEMA_ERRORS, ...MESSAGES };

/**
 * Creates the error for one row of the startup table. An error among the arguments becomes its cause.
 * @example throw startupError('DECORUM_INVALID_OPTION', 'status', 'text', 'is empty. Leave it out for "up"');
 */
export const startupError = errorsOf(CORE_ERRORS);

/**
 * Failures while handling a message, with their codes in the newest revision (JSON-RPC 2.0, section 5.1; MCP), and why
 * they are thrown by default.
 */
export const FAILURES = {
  'parse-error': { code: -32700, cause: 'invalid-request' },
  'invalid-request': { code: -32600, cause: 'invalid-request' },
  'method-not-found': { code: -32601, cause: 'not-found' },
  'invalid-params': { code: -32602, cause: 'invalid-request' },
  'internal-error': { code: -32603, cause: 'expected' },
  'unknown-tool': { code: -32602, cause: 'not-found' },
  'unknown-prompt': { code: -32602, cause: 'not-found' },
  'unknown-resource': { code: -32602, cause: 'not-found' },
  'invalid-cursor': { code: -32602, cause: 'invalid-request' },
  'invalid-state': { code: -32602, cause: 'invalid-request' },
  // the request needs an authenticated caller with the scopes in `data.scopes`
  unauthorized: { code: -32600, cause: 'denied' },
  // the caller lacks some of the scopes in `data.scopes`
  'insufficient-scope': { code: -32600, cause: 'denied' },
  'header-mismatch': { code: -32020, cause: 'invalid-request' },
  'missing-capability': { code: -32021, cause: 'client' },
  'unsupported-version': { code: -32022, cause: 'invalid-request' },
  // too many requests in flight, or too many states for `MemorySingleUse` to remember
  'too-many-requests': { code: -32603, cause: 'limit' },
  // a request that arrived after the server began to close, or was still in flight when it closed
  closing: { code: -32603, cause: 'closing' },
  // the server can't reach its data for now
  unavailable: { code: -32603, cause: 'timeout' },
  // revisions without a code for it never send this: they ask the client instead
  'url-elicitation-required': { code: -32603, cause: 'expected' },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly cause: FailureCause }>>;

/** A failure by name. Each revision maps it to a code. */
export type FailureKind = keyof typeof FAILURES;

// Registered symbols: errors from another copy of this package are recognized too.
const MCP_ERROR = Symbol.for('decorum:mcp-error');
const TOOL_ERROR = Symbol.for('decorum:tool-error');
const QUESTION_ERROR = Symbol.for('decorum:question-error');
const TICKET_ERROR = Symbol.for('decorum:ticket-error');

/**
 * A JSON-RPC error. When a handler throws one, the client receives its code, message and data unchanged. Don't put
 * anything into it that the client must not see.
 * @example throw new McpError('invalid-params', 'The page must be at least 1.', { page: 0 });
 */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly kind: FailureKind | undefined;
  readonly [MCP_ERROR] = true;

  /**
   * @param code a failure by name, or a JSON-RPC error code. For your own codes, choose integers outside −32768…−32000.
   *   Anything but an integer becomes −32603
   * @param message one sentence for the client
   * @param data any JSON value
   */
  constructor(code: FailureKind | number, message: string, data?: unknown) {
    super(message);
    this.name = 'McpError';
    this.kind = typeof code === 'number' ? undefined : code;
    const chosen = typeof code === 'number' ? code : FAILURES[code].code;
    // clients reject the whole response if the code is not an integer
    this.code = Number.isSafeInteger(chosen) ? chosen : FAILURES['internal-error'].code;
    this.data = data;
  }

  /** Also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === McpError ? branded(value, MCP_ERROR) : isMade(this, value);
  }
}

/**
 * Tells the model what went wrong in a tool, so the model can correct itself. The message is sent unchanged, in a
 * result with `isError`. Errors of other classes are masked, except `McpError` and errors that the server expects.
 * @example
 * ```ts
 * class NoteId {
 *   @IsString() id!: string;
 * }
 *
 * class Notes {
 *   private readonly notes = new Map<string, string>();
 *
 *   @Tool({ description: 'Forgets a note' })
 *   forget({ id }: NoteId) {
 *     if (!this.notes.delete(id)) throw new ToolError(`There is no note ${id}.`);
 *     return 'Forgotten.';
 *   }
 * }
 * ```
 */
export class ToolError extends Error {
  readonly [TOOL_ERROR] = true;

  /** @param message the message for the model */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ToolError';
  }

  /** Also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === ToolError ? branded(value, TOOL_ERROR) : isMade(this, value);
  }
}

/**
 * The client failed to answer a question: it responded with an error, sent an invalid answer, or timed out. Handlers
 * may catch it. Otherwise its message goes to the model, as with any `ToolError`.
 * @example
 * ```ts
 * async function ask(ctx: Context) {
 *   try {
 *     return await ctx.confirm('Send it?');
 *   } catch (error) {
 *     if (error instanceof QuestionError) return false;
 *     throw error;
 *   }
 * }
 * ```
 */
export class QuestionError extends ToolError {
  /** The code of the client's error, if it sent one. */
  readonly code: number | undefined;
  /** The data of the client's error. */
  readonly data: unknown;
  readonly [QUESTION_ERROR] = true;

  constructor(message: string, error: { readonly code?: number; readonly data?: unknown } = {}) {
    super(message);
    this.name = 'QuestionError';
    this.code = error.code;
    this.data = error.data;
  }

  /** Also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === QuestionError ? branded(value, QUESTION_ERROR) : isMade(this, value);
  }
}

/**
 * Thrown by `server.openTicket` for a ticket that was tampered with, has expired, or was issued to another principal.
 * The error does not say which, to give an attacker no hints.
 * @example
 * ```ts
 * function orderOf(server: McpServer, ticket: string) {
 *   try {
 *     return server.openTicket(ticket, undefined);
 *   } catch (error) {
 *     if (error instanceof TicketError) return undefined;
 *     throw error;
 *   }
 * }
 * ```
 */
export class TicketError extends Error {
  readonly [TICKET_ERROR] = true;

  constructor() {
    super('The ticket is not valid for this user, or has expired.');
    this.name = 'TicketError';
  }

  /** Also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === TicketError ? branded(value, TICKET_ERROR) : isMade(this, value);
  }
}
