// Compiled with standard (TC39) decorators. They don't know the class of a member, so the messages name the member.
import { describe, expect, it } from '@jest/globals';
import { Completion, Describe, Hidden, McpHeader, Prompt, Resource, Tool } from '@decorum/core';

type Untyped = (...args: unknown[]) => never;
type Called = (...args: unknown[]) => (...place: unknown[]) => void;

const METHODS = { Tool, Resource, Prompt, Completion, Hidden } as unknown as Record<string, Untyped>;
const FIELDS = { Describe, McpHeader } as unknown as Record<string, Untyped>;
const ARGUMENTS: Record<string, unknown[]> = { Resource: ['x://a'], Describe: ['City'], McpHeader: ['City'] };

const MISUSE = expect.objectContaining({ code: 'DECORUM_MISUSED_DECORATOR' }) as unknown as Error;

describe('standard decorators', () => {
  it.each(Object.entries(METHODS))('need parentheses on a method: @%s', (name, decorator) => {
    const declare = () => {
      class Shop {
        @decorator
        search() {}
      }
      return Shop;
    };
    expect(declare).toThrow(MISUSE);
    expect(declare).toThrow(new RegExp(`^search: @${name} needs parentheses. Write @${name}\\(`));
  });

  it.each(Object.entries(FIELDS))('need parentheses on a field: @%s', (name, decorator) => {
    const declare = () => {
      class Shop {
        @decorator
        city = '';
      }
      return Shop;
    };
    expect(declare).toThrow(MISUSE);
    expect(declare).toThrow(new RegExp(`^city: @${name} needs parentheses. Write @${name}\\(`));
  });

  it.each(Object.entries({ ...METHODS, ...FIELDS }))('are not allowed on a class: @%s', (name, decorator) => {
    const declare = () => {
      @((decorator as Called)(...(ARGUMENTS[name] ?? [{}])))
      class Shop {}
      return Shop;
    };
    const declareBare = () => {
      @decorator
      class Shop {}
      return Shop;
    };
    for (const run of [declare, declareBare]) {
      expect(run).toThrow(MISUSE);
      expect(run).toThrow(new RegExp(`^Shop: @${name} is on a class. Write @${name}\\(.*\\) on each (method|field)`));
    }
  });

  it.each(Object.entries(FIELDS))('for fields are not allowed on a method: @%s', (name, decorator) => {
    const declare = () => {
      class Shop {
        @((decorator as Called)(...(ARGUMENTS[name] ?? [])))
        search() {}
      }
      return Shop;
    };
    expect(declare).toThrow(MISUSE);
    expect(declare).toThrow(`search: @${name} is for DTO fields, but this is a method`);
  });
});
