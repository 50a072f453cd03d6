import type { Ajv, KeywordCxt, ValidateFunction } from 'ajv';

import { loadAjv, loadAjv2020, loadAjvFormats } from '../metadata/libraries.cjs';
import type { JsonObject } from '../values/json.js';
import { boundWork, followsReferences, isSmall, runBounded, TOO_COMPLEX } from './bounded-work.js';
import { BACKTRACKING_LIMIT } from '../rules/constraints.js';
import { BadPattern, longestText, SlowPattern } from '../patterns/longest-text.js';
import { withGeneratedCode } from './code-generation.js';
import { repairKeywords } from './keyword-repairs.js';
import { describeErrors } from './problems.js';
import type { FieldCheck, Problem } from '../shape.js';
import type { Complaints } from '../rules/value-rule.js';

/** A compiled schema: checks a value, and explains why it does not match. */
export interface Inspection {
  readonly fits: (value: unknown) => boolean;
  /** Call it right after `fits` returned false. */
  readonly explain: (value: unknown) => readonly Problem[];
}

/** Supported dialects of JSON Schema. */
export type Dialect = '2020-12' | 'draft-07';

type Mode = 'dto' | 'raw';

/** How a schema is compiled. */
interface Variant {
  /** Whether to find all errors rather than the first. */
  readonly all: boolean;
  /** Whether to ignore inherited members. */
  readonly own: boolean;
}

/**
 * The length as class-validator counts it: a surrogate pair, or a character with a variation selector, counts as one.
 */
function shownLength(text: string): number {
  const pairs = text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0;
  // oxlint-disable-next-line no-misleading-character-class -- counts UTF-16 units, as class-validator does
  return text.length - pairs - (text.match(/[^\uFE0F\uFE0E][\uFE0F\uFE0E]/g)?.length ?? 0);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function isUnique(items: unknown[]): boolean {
  return new Set(items.map((item) => canonical(item))).size === items.length;
}

const counter = ({ gen }: KeywordCxt) => gen.scopeValue('func', { ref: shownLength });

/** Gives keywords the meaning of the class-validator rules that they stand for. */
function addRuleKeywords(ajv: Ajv): void {
  const { _ } = loadAjv();
  for (const keyword of ['minLength', 'maxLength', 'multipleOf']) ajv.removeKeyword(keyword);
  // a no-op here: the rule itself runs too, and knows which items are equal
  ajv.addKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'maxLength',
    type: 'string',
    before: 'pattern',
    // inline the cheap comparison: only long strings need counting
    code: (cxt) => cxt.fail(_`${cxt.data}.length > ${cxt.schema} && ${counter(cxt)}(${cxt.data}) > ${cxt.schema}`),
  });
  ajv.addKeyword({
    keyword: 'minLength',
    type: 'string',
    before: 'pattern',
    // a counted character has at most three code units, so a string this long is long enough
    code: (cxt) =>
      cxt.fail(_`${cxt.data}.length < ${3 * (cxt.schema as number)} && ${counter(cxt)}(${cxt.data}) < ${cxt.schema}`),
  });
  ajv.addKeyword({ keyword: 'multipleOf', type: 'number', compile: (step: number) => (n: number) => n % step === 0 });
  ajv.addKeyword({ keyword: 'rule', compile: (rule: Complaints) => (value: unknown) => rule(value).length === 0 });
  ajv.addKeyword({ keyword: 'field', compile: (fits: FieldCheck) => fits });
}

/** Formats whose regular expressions may backtrack. */
export const BOUNDED_FORMATS = ['duration', 'hostname', 'url'];

function addRawKeywords(ajv: Ajv): void {
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', compile: (on: boolean) => (on ? isUnique : () => true) });
  loadAjvFormats().default(ajv);
  for (const name of BOUNDED_FORMATS) {
    const format = ajv.formats[name];
    if (format instanceof RegExp) ajv.addFormat(name, (text) => text.length <= BACKTRACKING_LIMIT && format.test(text));
  }
}

/**
 * Rejects patterns that take exponential time, and limits the length of strings for patterns that may take polynomial
 * time.
 */
const guardedRegExp = Object.assign(
  (pattern: string, flags: string) => {
    const compiled = lenientRegExp(pattern, flags);
    const longest = longestText(pattern, compiled.flags);
    if (longest === Number.POSITIVE_INFINITY) return compiled;
    if (longest === 0) {
      throw new SlowPattern(pattern);
    }
    return {
      test: (text: string) => text.length <= longest && compiled.test(text),
      // ajv identifies patterns by their text
      toString: () => String(compiled),
    };
  },
  { code: 'guardedRegExp' },
);

/** Many published schemas contain escapes that the `u` flag forbids. */
function lenientRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    // without the flag
  }
  try {
    return new RegExp(pattern);
  } catch (error) {
    const [, reason = ''] = /: ([^:]*)$/.exec((error as Error).message) ?? [];
    throw new BadPattern(pattern, `is not a regular expression (${reason}). Correct it`);
  }
}

/** Moves `maxItems` and `maxProperties` before the keywords that visit each item or field, such as `anyOf`. */
function countFirst({ RULES }: Ajv): void {
  for (const [type, keyword] of [
    ['array', 'maxItems'],
    ['object', 'maxProperties'],
  ] as const) {
    const { rules = [] } = RULES.rules.find((group) => group.type === type) ?? {};
    const at = rules.findIndex((rule) => rule.keyword === keyword);
    RULES.rules.unshift({ type, rules: rules.splice(at, 1) });
  }
}

/** Names that every object inherits, such as `constructor`. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype).map((name) => JSON.stringify(name));

/** Whether a schema may name a member that every object inherits. Ignoring inherited members makes ajv slower. */
function looksAtOwn(schema: JsonObject): boolean {
  const text = JSON.stringify(schema);
  return INHERITED.some((name) => text.includes(name));
}

function createAjv(dialect: Dialect, mode: Mode, { all: allErrors, own: ownProperties }: Variant): Ajv {
  const { default: AjvClass } = dialect === '2020-12' ? loadAjv2020() : loadAjv();
  const ajv = new AjvClass({
    strict: false,
    strictNumbers: true,
    ownProperties,
    allErrors,
    verbose: true,
    logger: false,
    validateSchema: false,
    // generated schemas are valid, and a `@Matches` pattern has the `u` flag only if it sets the flag
    ...(mode === 'dto'
      ? { meta: false, validateFormats: false, unicodeRegExp: false, discriminator: true }
      : { code: { regExp: guardedRegExp } }),
  });
  // ajv compares items pairwise, which takes 7 s for 20,000 objects; ours is linear
  ajv.removeKeyword('uniqueItems');
  if (mode === 'dto') addRuleKeywords(ajv);
  else addRawKeywords(ajv);
  repairKeywords(ajv);
  boundWork(ajv, allErrors);
  countFirst(ajv);
  return ajv;
}

const instances = new Map<string, { readonly ajv: Ajv; uses: number }>();

/** An ajv instance never releases what it has compiled, so it is replaced after this many uses. */
const MAX_USES = 500;

function sharedAjv(dialect: Dialect, mode: Mode, variant: Variant): Ajv {
  const key = `${dialect} ${mode} ${variant.all} ${variant.own}`;
  let shared = instances.get(key);
  if (shared === undefined || shared.uses >= MAX_USES) {
    shared = { ajv: createAjv(dialect, mode, variant), uses: 0 };
    // only schemas that refer to themselves need this option, and with it, ajv keeps the schemas
    shared.ajv.opts.addUsedSchema = false;
  }
  shared.uses += 1;
  instances.set(key, shared);
  return shared.ajv;
}

function inspector(compile: (all: boolean) => ValidateFunction, maxText = Number.POSITIVE_INFINITY): Inspection {
  const check = compile(false);
  let isTooComplex = false;
  const bounded = (value: unknown) => {
    const result = runBounded(check, value);
    isTooComplex = result === undefined;
    return result === true;
  };
  let all: ValidateFunction | undefined;
  const explain = (value: unknown) => {
    if (isTooComplex) return TOO_COMPLEX;
    const errors = check.errors ?? [];
    if (!isSmall(value, maxText)) return describeErrors(errors);
    all ??= compile(true);
    return describeErrors(runBounded(all, value) === false && all.errors ? all.errors : errors);
  };
  return { fits: followsReferences(check) ? bounded : check, explain };
}

const compileWith = (ajv: Ajv, schema: JsonObject): ValidateFunction => withGeneratedCode(() => ajv.compile(schema));

/** Compiles a schema that was generated from a DTO class. */
export function compileGenerated(schema: JsonObject, mayBacktrack: boolean): Inspection {
  const own = looksAtOwn(schema);
  return inspector(
    (all) => compileWith(sharedAjv('2020-12', 'dto', { all, own }), schema),
    mayBacktrack ? 2 * BACKTRACKING_LIMIT : undefined,
  );
}

/** ajv keeps ids and anchors for later schemas, so a schema that has any or refers to itself gets its own instance. */
function hasNames(schema: JsonObject): boolean {
  return /"\$(?:id|anchor|dynamicAnchor)":|"\$ref":"#"/.test(JSON.stringify(schema));
}

const DRAFT_07 = 'http://json-schema.org/draft-07/schema';
const WITH_DEFS = `${DRAFT_07}-with-defs`;

/** Makes draft-07 check `$defs`. The dialect doesn't know that keyword, but references lead there too. */
function checkDefs(ajv: Ajv): void {
  if (ajv.opts.defaultMeta === WITH_DEFS) return;
  const draft = ajv.schemas[DRAFT_07]?.schema as JsonObject & { readonly properties: JsonObject };
  const $defs = draft.properties['definitions'];
  ajv.addMetaSchema({ ...draft, $id: WITH_DEFS, properties: { ...draft.properties, $defs } });
  ajv.opts.defaultMeta = WITH_DEFS;
}

/**
 * Validates a schema against its dialect, and compiles it.
 * @throws {Error} with the reason if the schema is invalid
 */
export function compileRaw(schema: JsonObject, dialect: Dialect): Inspection {
  const ajvFor = hasNames(schema) ? createAjv : sharedAjv;
  const own = looksAtOwn(schema);
  const meta = sharedAjv(dialect, 'raw', { all: false, own: false });
  if (dialect === 'draft-07') checkDefs(meta);
  // ajv knows only one spelling of the dialect's URI
  const { $schema: _dialect, ...keywords } = schema;
  if (withGeneratedCode(() => meta.validateSchema(keywords)) !== true) {
    const found = meta.errorsText(meta.errors, { dataVar: 'it' });
    throw new Error(`${found}. Correct it, as JSON Schema ${dialect} says`);
  }
  return inspector((all) => compileWith(ajvFor(dialect, 'raw', { all, own }), schema));
}
