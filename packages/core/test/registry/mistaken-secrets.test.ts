import { afterEach, describe, expect, it } from '@jest/globals';
import { McpServer } from '@decorum/core';

const LONG = 'a'.repeat(32);
const OTHER = 'b'.repeat(32);
const start = (secret?: unknown) => () =>
  new McpServer({ name: 'shop', version: '1.0.0', ...(secret !== undefined && { secret: secret as string }) });

describe('the secret of the environment', () => {
  afterEach(() => {
    delete process.env['DECORUM_SECRET'];
  });

  it.each([
    ['short', /`DECORUM_SECRET` has only 5 characters\. A secret needs at least 32 characters\./],
    [`${LONG},short`, /contains commas, which separate several secrets, and number 2 of these 2 has only 5 characters/],
    [`${LONG},`, /number 2 of these 2 is empty\. .*Remove the commas, or use a secret without commas\./],
    [`${LONG}, ,${OTHER}`, /number 2 of these 3 is empty/],
    ['', /`DECORUM_SECRET` is empty\. A secret needs at least 32 characters\. Set one, or unset the variable\./],
    ['  ', /`DECORUM_SECRET` is empty/],
    [',', /number 1 of these 2 is empty/],
  ])('fails at startup and says why: %j (#22)', (value, message) => {
    process.env['DECORUM_SECRET'] = value;
    expect(start()).toThrow(message);
    expect(start()).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
    // the option wins
    expect(start(LONG)).not.toThrow();
  });

  it.each([LONG, ` ${LONG} `, `${LONG},${OTHER}`, `${LONG} , ${OTHER}\n`, undefined])(
    'may have spaces around it, several parts, or be unset: %j (#22)',
    (value) => {
      if (value !== undefined) process.env['DECORUM_SECRET'] = value;
      expect(start()).not.toThrow();
    },
  );
});

describe('the option `secret`', () => {
  it.each([
    ['', /`secret` is empty\. A secret needs at least 32 characters\./],
    [['short'], /`secret` has only 5 characters/],
    [[], /`secret` is an empty list/],
    [[LONG, ''], /`secret` is a list, and number 2 of its 2 secrets is empty/],
    [[LONG, 5], /number 2 of its 2 secrets is not a string/],
    [null, /`secret` is not a string/],
  ])('fails at startup and says why: %j (#22)', (secret, message) => {
    expect(start(secret)).toThrow(message);
  });

  it('may contain commas, because a list is an array (#22)', () => {
    expect(start(`${LONG},short`)).not.toThrow();
  });
});
