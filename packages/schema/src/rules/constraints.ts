import type { JsonObject } from '../values/json.js';

/** How to express a class-validator rule in JSON Schema. */
export interface Mapping {
  /** The decorator, as exported by class-validator. */
  readonly decorator: string;
  /** Part of the default message. It identifies class-validator's own rule, because custom rules may reuse the name. */
  readonly says: string;
  /** The keywords; undefined if they cannot express these arguments exactly. The rule is then run instead. */
  readonly keywords: (args: readonly unknown[]) => JsonObject | undefined;
  /** Keywords to use if there are no exact ones. */
  readonly otherwise: JsonObject;
}

type Scalar = string | number | boolean | null;

const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);

/** A schema that matches nothing. */
const NEVER: JsonObject = { not: {} };

function typeOf(values: readonly Scalar[]): JsonObject {
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  return types.size === 1 ? { type: [...types][0] } : { type: [...types] };
}

/** Matches any of the values. Values other than JSON scalars are dropped, because nothing on the wire can equal them. */
export function oneOf(values: readonly unknown[]): JsonObject {
  const scalars = [...new Set(values.filter(isScalar))];
  return scalars.length === 0 ? NEVER : { ...typeOf(scalars), enum: scalars };
}

function noneOf(values: readonly unknown[]): JsonObject {
  const scalars = [...new Set(values.filter(isScalar))];
  return scalars.length === 0 ? {} : { not: { enum: scalars } };
}

/** The values of a TypeScript enum, without the reverse mapping of numeric enums. */
export function enumValues(entity: object): unknown[] {
  const table = entity as Record<string, unknown>;
  return Object.entries(table)
    .filter(
      ([key, value]) => typeof value !== 'string' || String(table[value]) !== key || typeof table[value] !== 'number',
    )
    .map(([, value]) => value);
}

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`);
const text = (keywords: JsonObject = {}): JsonObject => ({ type: 'string', ...keywords });
const list = (keywords: JsonObject = {}): JsonObject => ({ type: 'array', ...keywords });
const number = (keywords: JsonObject = {}): JsonObject => ({ type: 'number', ...keywords });
const strings = (pattern: string) => () => text({ pattern });
const inEnglish =
  (pattern: string) =>
  ([locale = 'en-US']: readonly unknown[]) =>
    locale === 'en-US' ? text({ pattern }) : undefined;

/** The pattern of `@Matches`. */
export function matchesPattern([pattern, modifiers]: readonly unknown[]): RegExp {
  return pattern instanceof RegExp ? pattern : new RegExp(String(pattern), modifiers as string | undefined);
}

/** JSON Schema patterns have no flags, and validators are advised to compile them with `u`. */
function matches(args: readonly unknown[]): JsonObject | undefined {
  const { source, flags } = matchesPattern(args);
  if (flags.replace('g', '') !== '') return undefined;
  try {
    return RegExp(source, 'u') && text({ pattern: source });
  } catch {
    return undefined;
  }
}

const HEX = '[0-9a-fA-F]';
const uuid = (version: string, variant = '[89abAB]'): string =>
  `${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-${variant}${HEX}{3}-${HEX}{12}`;
const NIL = '00000000-0000-0000-0000-000000000000';
const MAX = NIL.replaceAll('0', '[fF]');

function uuidPattern(version: unknown): string | undefined {
  if (version === undefined || version === null || version === 'all') return `^(?:${uuid('[1-8]')}|${NIL}|${MAX})$`;
  if (version === 'nil') return `^${NIL}$`;
  if (version === 'max') return `^${MAX}$`;
  if (version === 'loose') return `^${uuid(HEX, HEX)}$`;
  return /^[1-8]$/.test(String(version)) ? `^${uuid(String(version))}$` : undefined;
}

function isUuid([version]: readonly unknown[]): JsonObject | undefined {
  const pattern = uuidPattern(version);
  return pattern === undefined ? undefined : text({ format: 'uuid', pattern });
}

function divisible([divisor]: readonly unknown[]): JsonObject {
  const whole = Math.abs(Number.parseInt(String(divisor), 10));
  return whole > 0 ? number({ multipleOf: whole }) : NEVER;
}

function contains(seed: unknown): JsonObject | undefined {
  return typeof seed === 'string' && seed !== '' ? { pattern: escaped(seed) } : undefined;
}

function every(values: unknown): JsonObject | undefined {
  if (!Array.isArray(values) || !values.every(isScalar)) return undefined;
  return values.length === 0 ? list() : list({ allOf: values.map((value) => ({ contains: { const: value } })) });
}

function none(values: unknown): JsonObject | undefined {
  if (!Array.isArray(values) || !values.every(isScalar)) return undefined;
  return values.length === 0 ? list() : list({ not: { contains: { enum: values } } });
}

type Row = readonly [decorator: string, says: string, keywords: Mapping['keywords'], otherwise?: JsonObject];

const row = (...[decorator, says, keywords, otherwise = text()]: Row): Mapping => ({
  decorator,
  says,
  keywords,
  otherwise,
});

const ROWS: Readonly<Record<string, Mapping>> = {
  equals: row('Equals', 'be equal to', ([value]) => (isScalar(value) ? { ...typeOf([value]), const: value } : NEVER)),
  notEquals: row('NotEquals', 'not be equal to', ([value]) => noneOf([value])),
  isEmpty: row('IsEmpty', 'must be empty', () => ({ enum: ['', null] })),
  isNotEmpty: row('IsNotEmpty', 'should not be empty', () => ({})), // depends on the type: see `Draft`
  isIn: row('IsIn', 'must be one of the following', ([values]) => oneOf(Array.isArray(values) ? values : [])),
  isNotIn: row('IsNotIn', 'should not be one of', ([values]) => noneOf(Array.isArray(values) ? values : [])),
  isEnum: row('IsEnum', 'must be one of the following', ([entity]) => oneOf(enumValues(entity as object))),
  isBoolean: row('IsBoolean', 'must be a boolean', () => ({ type: 'boolean' })),
  isString: row('IsString', 'must be a string', () => text()),
  isInt: row('IsInt', 'must be an integer', () => ({ type: 'integer' })),
  isNumber: row(
    'IsNumber',
    'must be a number',
    ([options]) =>
      (options as { maxDecimalPlaces?: number } | undefined)?.maxDecimalPlaces === undefined ? number() : undefined,
    number(),
  ),
  isDate: row('IsDate', 'must be a Date', () => ({})), // a string on the wire: see `Draft`
  min: row('Min', 'must not be less', ([limit]) => number({ minimum: limit })),
  max: row('Max', 'must not be greater', ([limit]) => number({ maximum: limit })),
  isPositive: row('IsPositive', 'must be a positive', () => number({ exclusiveMinimum: 0 })),
  isNegative: row('IsNegative', 'must be a negative', () => number({ exclusiveMaximum: 0 })),
  isDivisibleBy: row('IsDivisibleBy', 'must be divisible by', divisible),
  minLength: row('MinLength', 'must be longer', ([limit]) => text({ minLength: limit })),
  maxLength: row('MaxLength', 'must be shorter', ([limit]) => text({ maxLength: limit })),
  isLength: row('Length', 'must be', ([least, most]) =>
    text({ minLength: least, ...(most !== undefined && { maxLength: most }) }),
  ),
  matches: row('Matches', 'must match', matches),
  contains: row('Contains', 'must contain a', ([seed]) => contains(seed) && text(contains(seed))),
  notContains: row('NotContains', 'should not contain a', ([seed]) => contains(seed) && text({ not: contains(seed) })),
  isUuid: row('IsUUID', 'must be a UUID', isUuid),
  isAlpha: row('IsAlpha', 'only letters', inEnglish('^[A-Za-z]+$')),
  isAlphanumeric: row('IsAlphanumeric', 'only letters and numbers', inEnglish('^[0-9A-Za-z]+$')),
  isAscii: row('IsAscii', 'only ASCII', strings(String.raw`^[\x00-\x7F]+$`)),
  isHexadecimal: row('IsHexadecimal', 'hexadecimal number', strings(`^(0[xXhH])?${HEX}+$`)),
  isMongoId: row('IsMongoId', 'mongodb id', () =>
    text({ pattern: `^(0[xXhH])?${HEX}+$`, minLength: 24, maxLength: 24 }),
  ),
  isHexColor: row('IsHexColor', 'hexadecimal color', strings(`^#?(${HEX}{3}|${HEX}{4}|${HEX}{6}|${HEX}{8})$`)),
  isOctal: row('IsOctal', 'octal number', strings('^(0[oO])?[0-7]+$')),
  isMilitaryTime: row('IsMilitaryTime', 'military time', strings(String.raw`^([01]\d|2[0-3]):?([0-5]\d)$`)),
  isBooleanString: row('IsBooleanString', 'boolean string', () => text({ enum: ['true', 'false', '1', '0'] })),
  isObject: row('IsObject', 'must be an object', () => ({ type: 'object' })),
  isNotEmptyObject: row(
    'IsNotEmptyObject',
    'non-empty object',
    ([options]) =>
      (options as { nullable?: boolean } | undefined)?.nullable === false
        ? undefined
        : { type: 'object', minProperties: 1 },
    { type: 'object' },
  ),
  isArray: row('IsArray', 'must be an array', () => list()),
  arrayContains: row('ArrayContains', 'must contain', ([values]) => every(values), list()),
  arrayNotContains: row('ArrayNotContains', 'should not contain', ([values]) => none(values), list()),
  arrayNotEmpty: row('ArrayNotEmpty', 'should not be empty', () => list({ minItems: 1 })),
  arrayMinSize: row('ArrayMinSize', 'at least', ([limit]) => list({ minItems: limit })),
  arrayMaxSize: row('ArrayMaxSize', 'no more than', ([limit]) => list({ maxItems: limit })),
  arrayUnique: row('ArrayUnique', 'must be unique', () => list({ uniqueItems: true })),
};

/** Rules that JSON Schema can express exactly, by their class-validator name. */
export const MAPPED: ReadonlyMap<string, Mapping> = new Map(Object.entries(ROWS));

/** Decorators that need no keywords: they decide which rules apply, and where. */
export const STRUCTURAL: readonly string[] = ['Allow', 'IsDefined', 'IsOptional', 'ValidateNested'];

const words = (names: string): string[] => names.trim().split(/\s+/);

/** Decorators whose rules run as code rather than as keywords, by the type that they work on. */
export const RUN = {
  // these run class-validator's own function as part of the check
  string: words(`
    IsLatLong IsDecimal IsBase64 IsByteLength IsCreditCard IsCurrency IsEmail IsFQDN IsFullWidth IsHalfWidth
    IsVariableWidth IsMACAddress IsIP IsPort IsISBN IsISIN IsISO8601 IsJSON IsJWT IsLowercase IsMobilePhone
    IsISO31661Alpha2 IsISO31661Alpha3 IsISO31661Numeric IsMultibyte IsSurrogatePair IsUrl IsFirebasePushId IsUppercase
    IsPhoneNumber IsHash IsISSN IsDateString IsNumberString IsBase32 IsBIC IsBtcAddress IsDataURI IsEAN
    IsEthereumAddress IsHSL IsIBAN IsIdentityCard IsISRC IsLocale IsMagnetURI IsMimeType IsPassportNumber IsPostalCode
    IsRFC3339 IsRgbColor IsSemVer IsStrongPassword IsTimeZone IsBase58 IsTaxId IsISO4217CurrencyCode IsISO6391
  `),
  date: words('MinDate MaxDate'),
  anything: words('IsLatitude IsLongitude'),
  // these need the complete instance, which class-validator then validates
  instance: words('IsInstance Validate ValidateBy ValidateIf ValidatorConstraint'),
};

/** Decorators that are rejected at startup, with the remedy. */
export const UNSUPPORTED: Readonly<Record<string, string>> = {
  ValidatePromise: 'Clients cannot send promises. Declare the field as the value itself.',
};

/** The type that a rule works on; `instance` for rules that are not in the table. */
export function runsOn(name = ''): keyof typeof RUN {
  // class-validator's names differ from its decorators' names only in case ("isIp", "IsFirebasePushId")
  const isNamed = (decorator: string): boolean => decorator.toLowerCase() === name.toLowerCase();
  return (['string', 'date', 'anything'] as const).find((kind) => RUN[kind].some(isNamed)) ?? 'instance';
}

/** Maximum length of strings that are matched against a pattern that may backtrack. */
export const BACKTRACKING_LIMIT = 1000;

/** Maximum length of lists whose items are compared pairwise. */
export const MAX_COMPARED_ITEMS = 1000;
