const LOST =
  'Its class was evaluated before Decorum, or your compiler emits no type metadata (esbuild, tsx). Import Decorum first, or';

/** Types that must be known at startup, with the remedy for each. */
const UNKNOWN_TYPES = {
  field: `the type of the field is unknown. ${LOST} add a rule that implies the type, such as @IsString() or @IsInt(), or @Type(() => Number) from class-transformer (@Type(() => Object) accepts anything). This also applies to a field with an initializer, unless you write its type out, as in \`limit: number = 10\`. TypeScript emits no type for \`string | null\` or a type parameter either: for \`T\` of \`Page<T>\`, declare a subclass that sets its type, \`class CityPage extends Page<City> { @ValidateNested() @Type(() => City) item!: City; }\`.`,
  items:
    'the type of the items is unknown, because TypeScript does not emit it. Add a rule for them, such as @IsString({ each: true }). For objects, add @ValidateNested({ each: true }) and @Type(() => Item) from class-transformer. To accept anything, add @Type(() => Object).',
  object: `the class of the nested object is unknown. TypeScript emits none for interfaces, array items, unions such as \`Item | null\`, and type parameters: for \`T\` of \`Page<T>\`, declare a subclass that names it, \`class CityPage extends Page<City> { @ValidateNested() @Type(() => City) item!: City; }\`. For other types: ${LOST} name the class with @Type(() => TheClass) from class-transformer.`,
} as const;

/** Messages of the mistakes in DTOs, schemas and options. Each says what is wrong, where, and how to fix it. */
export const SCHEMA_ERRORS = {
  DECORUM_UNSUPPORTED_MEMBER: (member: string) =>
    `"${member}" cannot be decorated: it is static, private, or named by a symbol. Decorate a public instance method or field with a plain name.`,
  DECORUM_MISUSED_DECORATOR: (where: string, decorator: string, problem: string) =>
    `${where}: @${decorator} ${problem}.`,
  DECORUM_DECORATED_TWICE: (where: string, kind: string) =>
    `${where} has two @${kind} decorators. Merge their options into one.`,
  DECORUM_INVALID_OPTION: (where: string, option: string, problem: string) => `${where}: \`${option}\` ${problem}.`,
  DECORUM_MISSING_LIBRARY: (where: string, library: string, remedy: string) =>
    `${where} needs ${library}, which could not be loaded. ${remedy}.`,
  DECORUM_NO_CODE_GENERATION: (where: string, library: string, remedy: string) =>
    `${where} needs ${library}, which generates code. This runtime forbids that. ${remedy}.`,
  DECORUM_NO_RULES: (where: string, what: 'class' | 'field') =>
    what === 'class'
      ? `${where} has no class-validator rules, so its fields are unknown. Decorate them, for example with @IsString().`
      : `${where} has no class-validator rule, so it would be rejected as an unknown field. Decorate it, for example with @IsString() or @Allow(). If it is internal, make it private (\`#name\`), or decorate it with @Exclude() from class-transformer.`,
  DECORUM_UNSUPPORTED_RULE: (where: string, rule: string, remedy: string) =>
    `${where}: the rule @${rule} is not supported. ${remedy}`,
  DECORUM_UNKNOWN_FIELD_TYPE: (where: string, what: keyof typeof UNKNOWN_TYPES) => `${where}: ${UNKNOWN_TYPES[what]}`,
  DECORUM_INVALID_FIELD: (where: string, problem: string, remedy: string) => `${where}: ${problem}. ${remedy}`,
  DECORUM_INVALID_SCHEMA: (where: string, reason: string) => `${where}: the schema cannot be used: ${reason}.`,
} satisfies MessageTable;

type SchemaErrors = typeof SCHEMA_ERRORS;

/** The message of each startup error, by code. Packages add theirs by declaration merging. */
export interface StartupErrors extends SchemaErrors {}

/** A stable code for each mistake found at startup. */
export type StartupErrorCode = keyof StartupErrors;

/** Messages by code. Each takes what the message names. */
export type MessageTable = Readonly<Record<string, (...args: never[]) => string>>;

// a registered symbol: errors from another copy of this package are recognized too
const DECORUM_ERROR = Symbol.for('decorum:error');

/** Whether a value has the symbol of an error class. */
export function branded(value: unknown, brand: symbol): boolean {
  return typeof value === 'object' && value !== null && brand in value;
}

/** Plain `instanceof`, for users' subclasses, which inherit `Symbol.hasInstance` from their base. */
export const isMade = (cls: object, value: unknown): boolean => Function.prototype[Symbol.hasInstance].call(cls, value);

/** A mistake in decorators or options, found at startup. */
export class DecorumError extends Error {
  readonly code: StartupErrorCode;
  readonly [DECORUM_ERROR] = true;

  /** Internal: packages create their errors from a table of messages. */
  constructor(code: StartupErrorCode, message: string, options?: ErrorOptions) {
    super(`${message} [${code}]`, options);
    this.name = 'DecorumError';
    this.code = code;
  }

  /** Also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === DecorumError ? branded(value, DECORUM_ERROR) : isMade(this, value);
  }
}

/**
 * Creates the function that creates a package's startup errors. An error among its arguments becomes the cause.
 * @param messages the package's table, and those of the packages below
 */
export function errorsOf<T extends MessageTable>(messages: T) {
  return <C extends keyof T & StartupErrorCode>(code: C, ...args: Parameters<T[C]>): DecorumError => {
    const cause = (args as readonly unknown[]).find((value) => value instanceof Error);
    const message = (messages[code] as unknown as (...values: unknown[]) => string)(...args);
    return new DecorumError(code, message, cause ? { cause } : undefined);
  };
}

/** Creates a startup error of this package. */
export const startupError = errorsOf(SCHEMA_ERRORS);

/** At most 150 characters of client input, for an error message. */
export function excerpt(input: unknown): string {
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? typeof input);
  return text.length > 150 ? `${text.slice(0, 150)}…` : text;
}
