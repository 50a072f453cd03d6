import { startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import type { Direction, Rule } from '../rules/class-facts.js';
import { isOpen } from './field-type.js';
import { longestText, TOO_SLOW } from '../patterns/longest-text.js';
import { type Mapping, MAPPED, matchesPattern, MAX_COMPARED_ITEMS, oneOf, runsOn } from '../rules/constraints.js';
import { addKeywords, isWithin, noteMessage, type Presented, PUBLISHED } from '../rules/keywords.js';
import { complaintsOf, dateComplaints, dayComplaints, isGenuine, messageOf } from '../rules/value-rule.js';

/**
 * Formats that are published as hints for the model, only in input schemas. The rules accept more than these formats,
 * so clients that check formats would reject valid results.
 */
const FORMATS: Readonly<Record<string, string>> = { isEmail: 'email', isUrl: 'uri' };

/** The JSON type of each scalar type that TypeScript emits. */
export const TYPES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
]);

/** The schema of a value, while its rules are being added. */
export class Draft {
  readonly node: JsonObject = {};
  isDate = false;
  #isDay = false;
  needsInstance = false;
  mayBacktrack = false;
  #isNotEmpty = false;
  #isDefined = false;
  /** Caps for strings and lists whose rules take more than linear time, unless the rules set caps of their own. */
  readonly #bounds: JsonObject = {};
  /** Rules that run as part of the check. */
  #run: Rule[] = [];
  readonly #where: string;

  constructor(where: string, rules: readonly Rule[]) {
    this.#where = where;
    for (const rule of rules) this.#add(rule);
  }

  #add(rule: Rule): void {
    if (rule.type === 'isDefined') this.#isDefined = true;
    if (rule.type !== 'customValidation') return;
    const mapping = MAPPED.get(rule.name ?? '');
    if (rule.validateIf !== undefined) this.needsInstance = true;
    else if (mapping === undefined) this.#addUnmapped(rule);
    else if (isGenuine(rule, mapping)) this.#addMapped(rule, mapping);
    else this.needsInstance = true;
  }

  #addMapped(rule: Rule, { keywords, otherwise }: Mapping): void {
    const args = rule.constraints ?? [];
    if (rule.name === 'matches') this.#boundPattern(args);
    if (rule.name === 'isDate') this.isDate = true;
    if (rule.name === 'isNotEmpty') this.#isNotEmpty = true;
    if (rule.name === 'arrayUnique') this.#bounds['maxItems'] = MAX_COMPARED_ITEMS;
    const exact = keywords(args);
    this.add(exact ?? otherwise, rule);
    // JSON Schema cannot express how the rule compares items
    if (exact === undefined || rule.name === 'arrayUnique') this.#run.push(rule);
  }

  #addUnmapped(rule: Rule): void {
    const on = runsOn(rule.name);
    if (on === 'instance') this.needsInstance = true;
    else this.#run.push(rule);
    if (on === 'string') this.add({ type: 'string' });
    if (on === 'date') this.isDate = true;
  }

  #boundPattern(args: readonly unknown[]): void {
    const { source, flags } = matchesPattern(args);
    const longest = longestText(source, flags);
    if (longest === Number.POSITIVE_INFINITY) return;
    if (longest === 0) {
      const remedy = `${String(args[0])} ${TOO_SLOW}.`;
      throw startupError('DECORUM_UNSUPPORTED_RULE', this.#where, 'Matches', remedy);
    }
    this.mayBacktrack = true;
    this.#bounds['maxLength'] = Math.min(longest, Number(this.#bounds['maxLength'] ?? longest));
  }

  /**
   * Accepts only these values, unless the rules say which.
   * @throws {DecorumError} `DECORUM_INVALID_FIELD` if the rules accept none of them
   */
  choose(values: readonly unknown[]): void {
    if ('enum' in this.node || 'const' in this.node) return;
    const chosen = oneOf(values);
    const isOpenType = !('type' in this.node && 'type' in chosen);
    if (!isOpenType && !isWithin(chosen, this.node) && !isWithin(this.node, chosen)) {
      const problem = `its rules accept the type ${String(this.node['type'])}, but the enum of @ApiProperty has another type`;
      throw startupError('DECORUM_INVALID_FIELD', this.#where, problem, 'Correct the enum or the rules.');
    }
    this.add(chosen);
  }

  /** Adds keywords, and the custom message of their rule. */
  add(keywords: JsonObject, rule?: Rule): void {
    addKeywords(this.node, keywords);
    if (rule?.message !== undefined) {
      noteMessage(this.node, Object.keys(keywords), (value) => messageOf(rule, undefined, value));
    }
  }

  /** Turns the value into a date, which is a string on the wire. */
  becomeDate(): void {
    this.isDate = true;
    this.add({ type: 'string', format: 'date-time' });
  }

  /** Turns the value into a date without a time. */
  becomeDay(isDate: boolean): void {
    this.#isDay = true;
    this.isDate = isDate;
    this.add({ type: 'string', format: 'date' });
  }

  /** Adds the type that TypeScript emitted, if the rules leave the type open. */
  refine(type: unknown): void {
    const name = TYPES.get(type);
    if (name !== undefined && isOpen(this.node)) this.add({ type: name });
  }

  /** Returns the finished schema. */
  finish(direction: Direction): JsonObject {
    this.add(Object.fromEntries(Object.entries(this.#bounds).filter(([keyword]) => !(keyword in this.node))));
    if (this.#isNotEmpty) this.#rejectEmpty();
    if (this.#isDefined && this.#allows('null')) this.add({ not: { type: 'null' } });
    const format = this.#run.map(({ name }) => FORMATS[name ?? '']).find((hint) => hint !== undefined);
    if (format !== undefined && direction === 'input') this.add({ format });
    if (this.#isDay) this.node['rule'] = dayComplaints(this.#run, this.isDate);
    else if (this.isDate) this.node['rule'] = dateComplaints(this.#run);
    else if (this.#run.length > 0) this.node['rule'] = complaintsOf(this.#run);
    return this.node;
  }

  /** Returns the finished schema of a list. `isNested` means that the items become instances. */
  finishList(items: JsonObject, isNested: boolean): JsonObject {
    this.add({ type: 'array' });
    if (isNested && this.#run.length > 0) {
      // the rule may call methods of the items, which only instances have
      this.needsInstance = true;
      this.#run = [];
    }
    const node = this.finish('output');
    if (isNested) delete node['uniqueItems'];
    // some clients reject arrays without `items`, at any level
    const isListOfLists = items['type'] === 'array' && !('items' in items);
    this.add({ items: isListOfLists ? { ...items, items: {} } : items });
    return node;
  }

  /** Returns the finished schema of a record. */
  finishRecord(values: JsonObject): JsonObject {
    this.add({ type: 'object' });
    // such keys do no harm here, but might if a handler merges the record
    const propertyNames = { not: { enum: ['__proto__', 'constructor', 'prototype'] } };
    const node: Presented = this.finish('output');
    return {
      ...node,
      additionalProperties: values,
      propertyNames,
      [PUBLISHED]: { propertyNames: undefined },
    } as Presented;
  }

  #allows(type: string): boolean {
    return this.node['type'] === undefined || [this.node['type']].flat().includes(type);
  }

  #rejectEmpty(): void {
    if (this.node['type'] === 'string') this.add({ minLength: 1 });
    else if (this.#allows('string') || this.#allows('null')) this.add({ not: { enum: ['', null] } });
  }
}
