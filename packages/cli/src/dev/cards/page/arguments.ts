import type { Tool } from '@modelcontextprotocol/client';

import { element, pretty } from './dom.js';

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const BLANK: Readonly<Record<string, unknown>> = {
  string: '',
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
  object: {},
};

/** A value to begin with for a property. */
function startOf(property: Json): unknown {
  const { default: preset, examples, enum: choices, const: only, minimum, type } = property;
  const [sample] = [only, preset, ...list(examples), ...list(choices)].filter((each) => each !== undefined);
  if (sample !== undefined) return sample;
  if (typeof minimum === 'number') return minimum;
  return typeof type === 'string' ? (BLANK[type] ?? null) : null;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** The properties of a tool's arguments, the required ones first. */
function propertiesOf({ inputSchema }: Tool): { name: string; property: Json; isRequired: boolean }[] {
  const required = list(inputSchema.required);
  return Object.entries(inputSchema.properties ?? {})
    .map(([name, property]) => ({
      name,
      property: isJson(property) ? property : {},
      isRequired: required.includes(name),
    }))
    .sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

/** Arguments to begin with: what is required, as JSON. */
export function argumentsFor(tool: Tool): string {
  const required = propertiesOf(tool).filter(({ isRequired }) => isRequired);
  return pretty(Object.fromEntries(required.map(({ name, property }) => [name, startOf(property)])));
}

/** Shows what the arguments of a tool are. */
export function describeArguments(tool: Tool): HTMLElement {
  const properties = propertiesOf(tool);
  if (properties.length === 0) return element('p', { class: 'quiet' }, 'This tool takes no arguments.');
  const rows = properties.flatMap(({ name, property, isRequired }) => {
    const choices = list(property['enum']).map((each) => JSON.stringify(each));
    const type = choices.length > 0 ? choices.join(' | ') : String(property['type'] ?? 'any');
    const text = typeof property['description'] === 'string' ? property['description'] : '';
    return [
      element('dt', {}, element('code', {}, name), isRequired ? ' ' : ' (optional) ', element('span', {}, type)),
      element('dd', {}, text),
    ];
  });
  return element('dl', { class: 'arguments' }, ...rows);
}

/**
 * Reads arguments.
 * @throws {Error} if the text isn't an object in JSON
 */
export function readArguments(text: string): Record<string, unknown> {
  const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
  if (!isJson(value)) throw new Error('Arguments are an object, such as {"city": "Oslo"}.');
  return value;
}
