import type { ElicitAnswer, ElicitQuestion } from '@decorum/client';
import type { JsonObject } from '@decorum/core';
import { CommandFailure, plainLine } from 'create-decorum';

import { choicesOf, type Field, itemsOf, namesOf, propertyOf, readValue, requiredOf, typeNameOf } from './fields.js';
import { say } from './print.js';
import type { Terminal } from './terminal.js';

/** What a user types instead of an answer. */
const WORDS = { ':decline': 'decline', ':cancel': 'cancel' } as const;

/** Where to ask. */
interface Place {
  readonly terminal: Terminal;
  /** Withdraws the question. */
  readonly signal: AbortSignal;
}

/** Asks for the fields of a form, one by one. Ctrl+D cancels. */
export async function fillIn({ message, requestedSchema }: ElicitQuestion, place: Place): Promise<ElicitAnswer> {
  const { terminal, signal } = place;
  const schema = Object(requestedSchema) as JsonObject;
  const form: Field = { schema, root: schema };
  say(`The server asks: ${message}`);
  const names = namesOf(form);
  if (names.length === 0) {
    return (await terminal.confirm('Accept?', signal)) ? { action: 'accept', content: {} } : { action: 'decline' };
  }
  say('Type :decline or :cancel to refuse.');
  const content: Record<string, unknown> = {};
  for (const name of names) {
    const field = propertyOf(form, name) ?? { schema: {}, root: schema };
    const value = await askField({ name, field, isRequired: requiredOf(form).includes(name) }, place);
    if (value === undefined) continue;
    if (value instanceof Refusal) return { action: value.action };
    Object.defineProperty(content, name, { value, enumerable: true });
  }
  return { action: 'accept', content };
}

/** The answer to a form as `--answer` takes it, with the type of each field for its value. */
export function exampleOf({ requestedSchema }: ElicitQuestion): string {
  const schema = Object(requestedSchema) as JsonObject;
  const form: Field = { schema, root: schema };
  const names = namesOf(form);
  if (names.length === 0) return 'accept';
  const types = names.map((name) => [name, typeNameOf(propertyOf(form, name) ?? { schema: {}, root: schema })]);
  return `'${plainLine(JSON.stringify(Object.fromEntries(types)))}'`;
}

class Refusal {
  constructor(readonly action: 'decline' | 'cancel') {}
}

interface Asked {
  readonly name: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

/** Asks for one field until the answer is valid. Undefined for a field that is left out. */
async function askField({ name, field, isRequired }: Asked, { terminal, signal }: Place): Promise<unknown> {
  const { description, title, default: initial } = field.schema;
  const about = [title, description].filter((each) => typeof each === 'string').join(': ');
  const given = initial === undefined ? '' : ` [${[initial].flat().map(String).join(', ')}]`;
  const question = `${name}${isRequired ? '' : '?'} (${hintOf(field)})${about && ` ${about}`}${given}:`;
  for (;;) {
    const text = await terminal.ask(question, signal);
    if (text === undefined) return new Refusal('cancel');
    if (Object.hasOwn(WORDS, text)) return new Refusal(WORDS[text as keyof typeof WORDS]);
    if (text === '' && initial !== undefined) return initial;
    if (text === '' && !isRequired) return undefined;
    try {
      return readAnswer(name, text, field);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      say(error.message);
    }
  }
}

function hintOf(field: Field): string {
  const items = itemsOf(field);
  return items ? `${typeNameOf(items)}, separated by commas` : typeNameOf(field);
}

/**
 * Reads an answer, and checks the few rules that forms have.
 * @throws {CommandFailure}
 */
function readAnswer(name: string, text: string, field: Field): unknown {
  const items = itemsOf(field);
  const value = items
    ? text.split(',').map((each) => readValue(name, each.trim(), items))
    : readValue(name, text, field);
  const problem = problemOf(value, field);
  if (problem !== undefined) throw new CommandFailure(`${plainLine(name)} ${problem}.`);
  return value;
}

const isBelow = (value: number, limit: unknown) => typeof limit === 'number' && value < limit;
const isAbove = (value: number, limit: unknown) => typeof limit === 'number' && value > limit;

function problemOf(value: unknown, field: Field): string | undefined {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = field.schema;
  if (typeof value === 'number') {
    if (isBelow(value, minimum)) return `must be at least ${minimum as number}`;
    return isAbove(value, maximum) ? `must be at most ${maximum as number}` : undefined;
  }
  if (Array.isArray(value)) {
    if (isBelow(value.length, minItems)) return `needs at least ${minItems as number}`;
    return isAbove(value.length, maxItems) ? `takes at most ${maxItems as number}` : undefined;
  }
  if (typeof value !== 'string' || choicesOf(field).length > 0) return undefined;
  const length = [...value].length;
  if (isBelow(length, minLength)) return `needs at least ${minLength as number} characters`;
  return isAbove(length, maxLength) ? `takes at most ${maxLength as number} characters` : undefined;
}
