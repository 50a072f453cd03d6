import { isDeepStrictEqual } from 'node:util';

import type { JsonObject } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';
import { parseDocument } from 'yaml';

const BLOCK = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

// Agent Skills: 1 to 64 lowercase letters, digits and single hyphens, which are neither first nor last
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME_LENGTH = 64;
const DESCRIPTION_LENGTH = 1024;
const COMPATIBILITY_LENGTH = 500;
const RESERVED = 'io.modelcontextprotocol/';

/** The error for a file that breaks a rule. */
export const broken = (file: string, part: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', file, part, problem);

/** The frontmatter of a skill. */
export interface Frontmatter {
  readonly name: string;
  readonly description: string;
  /** All fields, as JSON. */
  readonly fields: JsonObject;
}

/**
 * Reads the frontmatter of a `SKILL.md`, by the rules of the Agent Skills specification.
 * @param file the file, for errors
 * @param folder the name of its folder
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` that names the file and the rule
 */
export function readFrontmatter(text: string, file: string, folder: string): Frontmatter {
  const fields = parseFields(text, file);
  const { name, description, compatibility, metadata } = fields;
  if (typeof name !== 'string' || name.length > NAME_LENGTH || !NAME.test(name)) {
    throw broken(file, 'name', `must be 1 to ${NAME_LENGTH} lowercase letters, digits and single hyphens`);
  }
  if (name !== folder) {
    throw broken(file, 'name', `is "${name}", but the folder is "${folder}". Give both the same name`);
  }
  if (typeof description !== 'string' || !/\S/.test(description) || description.length > DESCRIPTION_LENGTH) {
    throw broken(file, 'description', `must be a text of 1 to ${DESCRIPTION_LENGTH} characters`);
  }
  for (const field of ['license', 'compatibility', 'allowed-tools']) {
    if (!['string', 'undefined'].includes(typeof fields[field])) throw broken(file, field, 'must be a text');
  }
  if (typeof compatibility === 'string' && (compatibility === '' || compatibility.length > COMPATIBILITY_LENGTH)) {
    throw broken(file, 'compatibility', `must have 1 to ${COMPATIBILITY_LENGTH} characters`);
  }
  if (metadata !== undefined && !isObject(metadata)) throw broken(file, 'metadata', 'must be a mapping');
  // clients refuse such a skill, and some of them the whole list
  const other = Object.entries(metadata ?? {}).find(([, value]) => typeof value !== 'string')?.[0];
  if (other !== undefined) throw broken(file, `metadata.${other}`, 'must be a text. Put it in quotes');
  const reserved = Object.keys(metadata ?? {}).find((key) => key.startsWith(RESERVED));
  if (reserved !== undefined) throw broken(file, 'metadata', `has the key "${reserved}", which is reserved. Rename it`);
  return { name, description, fields };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseFields(text: string, file: string): JsonObject {
  const yaml = BLOCK.exec(text)?.[1];
  const wrong = (problem: string) => broken(file, 'frontmatter', problem);
  if (yaml === undefined) throw wrong('is missing. Begin the file with YAML between two lines of "---"');
  const fields = parseYaml(yaml, wrong);
  if (!isObject(fields)) throw wrong('must be a mapping, such as "name: my-skill"');
  const json = JSON.parse(JSON.stringify(fields)) as JsonObject;
  if (!isDeepStrictEqual(json, fields)) throw wrong('has a value that JSON lacks. Quote it');
  return json;
}

function parseYaml(yaml: string, wrong: (problem: string) => Error): unknown {
  // strict: clients that read the same YAML have to get the same fields
  const document = parseDocument(yaml, { prettyErrors: false });
  const [error = document.warnings[0]] = document.errors;
  if (error !== undefined) {
    const line = yaml.slice(0, error.pos[0]).split('\n').length + 1; // after the line with "---"
    const hint = error.message.startsWith('Nested mappings') ? '. Put texts with a colon in quotes' : '';
    throw wrong(`is not valid YAML in line ${line}: ${error.message.replace(/\.$/, '')}${hint}`);
  }
  try {
    const fields: unknown = document.toJS();
    // fails for an alias within its own anchor
    JSON.stringify(fields);
    return fields;
  } catch (cause) {
    throw wrong(`is not valid YAML: ${(cause as Error).message.replace(/\.$|\n[^]*/, '')}`);
  }
}
