import { describe, expect, it } from '@jest/globals';
import { Ajv, type AnySchema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { BREAKING } from './breaking.js';
import { HARMLESS } from './harmless.js';
import { type Contract, REVISIONS, type SeededChange } from './seeded-change.js';

const OPTIONS = { allowUnionTypes: true, strictRequired: false, strictTuples: false, strictTypes: false } as const;

const VALIDATORS = {
  draft07: new Ajv({ ...OPTIONS, strict: true, validateFormats: false }),
  draft2020: new Ajv2020({ ...OPTIONS, strict: true, validateFormats: false }),
};

/** Throws if a schema is malformed or has an unknown keyword. */
function compile(schema: AnySchema & { readonly $schema?: string }): void {
  const isDraft07 = schema.$schema?.includes('draft-07') === true;
  VALIDATORS[isDraft07 ? 'draft07' : 'draft2020'].compile(schema);
}

type Entry = Readonly<Record<string, unknown>>;

/** All entries of a contract, with the revision that lists them. */
const entriesOf = ({ revisions }: Contract): Entry[] =>
  Object.values(revisions).flatMap((lists) => Object.values(lists).flat() as Entry[]);

const schemasOf = (contract: Contract): unknown[] =>
  entriesOf(contract)
    .flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema])
    .filter((schema) => schema !== undefined);

const namesOf = (contract: Contract): unknown[] => [
  ...Object.keys(contract.revisions),
  ...entriesOf(contract).flatMap(({ name, uri, uriTemplate, aliases }) => [name, uri, uriTemplate, aliases].flat()),
];

const CHANGES: readonly SeededChange[] = [...BREAKING, ...HARMLESS];
const ROWS = CHANGES.map((change) => [change.title, change] as const);

describe('seeded changes', () => {
  it('are 40 breaking and 40 harmless ones', () => {
    expect([BREAKING.length, HARMLESS.length]).toEqual([40, 40]);
  });

  it('have unique titles', () => {
    expect(new Set(CHANGES.map(({ title }) => title)).size).toBe(CHANGES.length);
  });

  it('name a member of the old contract if they are breaking, and none if they are harmless', () => {
    const strange = BREAKING.filter(({ before, member }) => !namesOf(before).includes(member));
    expect(strange.map(({ title }) => title)).toEqual([]);
    expect(HARMLESS.filter(({ member }) => member !== '')).toEqual([]);
  });

  it.each(ROWS)('%s: both sides are contracts, and they differ', (_title, { before, after }) => {
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
    for (const contract of [before, after]) {
      expect(REVISIONS).toEqual(expect.arrayContaining(Object.keys(contract.revisions)));
      expect(entriesOf(contract).length).toBeGreaterThan(0);
      for (const schema of schemasOf(contract)) compile(schema as AnySchema);
    }
  });
});
