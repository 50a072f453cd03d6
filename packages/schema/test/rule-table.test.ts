import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import * as cv from 'class-validator';

import type { Rule } from '../src/rules/class-facts.js';
import { rulesOf } from '../src/rules/class-facts.js';
import { MAPPED, UNSUPPORTED, RUN, runsOn, STRUCTURAL } from '../src/rules/constraints.js';
import { isGenuine } from '../src/rules/value-rule.js';
import { field, mistakeIn } from './fixtures.js';

const NOT_RULES = ['ValidationError', 'Validator', 'MetadataStorage', 'ValidationTypes'];

/** class-validator exports its decorators in PascalCase, their names as constants, and functions in camelCase. */
const exported = Object.keys(cv).filter((name) => /^[A-Z][A-Za-z0-9]*[a-z]/.test(name) && !NOT_RULES.includes(name));
const short = [
  'Min',
  'Max',
  'IsIn',
  'IsIP',
  'IsEAN',
  'IsBIC',
  'IsHSL',
  'IsJSON',
  'IsJWT',
  'IsUUID',
  'IsISBN',
  'IsISIN',
];

const lists = {
  mapped: [...STRUCTURAL, ...[...MAPPED.values()].map(({ decorator }) => decorator)],
  run: Object.values(RUN).flat(),
  refused: Object.keys(UNSUPPORTED),
};

function ruleOf(decorate: (...args: never[]) => PropertyDecorator, ...args: unknown[]): Rule {
  class Probe {}
  (decorate as (...args: unknown[]) => PropertyDecorator)(...args)(Probe.prototype, 'x');
  const [rule] = rulesOf(Probe).get('x') ?? [];
  if (rule === undefined) throw new Error('no rule');
  return rule;
}

const decorators = cv as unknown as Record<string, (...args: never[]) => PropertyDecorator>;

function listOnPage(heading: string): string[] {
  const page = readFileSync(new URL('../../../docs/schemas.md', import.meta.url), 'utf8');
  const section = page.split(/^#{2,3} /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/`@(\w+)`/g)].map(([, name]) => name ?? '');
}

describe('the rule table', () => {
  it('has every rule of class-validator in exactly one list', () => {
    expect(exported).toEqual(expect.arrayContaining(short));
    expect(Object.values(lists).flat().toSorted()).toEqual(exported.toSorted());
  });

  it.each([
    ['Checked by JSON Schema', lists.mapped],
    ['Run after JSON Schema', lists.run],
    ['Rejected at startup', lists.refused],
  ])('matches the page under "%s"', (heading, names) => {
    expect([...new Set(listOnPage(heading))].toSorted()).toEqual([...names].toSorted());
  });

  it.each(lists.refused)('rejects @%s at startup, and says what to write instead', (name) => {
    const source = field(Object, decorators[name]?.());
    const message = new RegExp(`Dto\\.x: the rule @${name} is not supported\\. \\w.*UNSUPPORTED_RULE`);
    expect(mistakeIn(source)).toMatch(message);
  });

  it.each([...MAPPED])('recognizes @%s by its name and message', (name, mapping) => {
    const rule = ruleOf(decorators[mapping.decorator] ?? cv.Allow, mapping.decorator === 'IsEnum' ? { a: 'a' } : 1);
    expect({ name: rule.name, isGenuine: isGenuine(rule, mapping) }).toEqual({ name, isGenuine: true });
  });

  it.each(lists.run.filter((name) => !/^(?:Validat.*|IsInstance)$/.test(name)))(
    'recognizes @%s, which needs the instance, by its name',
    (name) => {
      expect(runsOn(ruleOf(decorators[name] ?? cv.Allow).name)).not.toBe('instance');
    },
  );
});
