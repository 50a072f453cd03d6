import { expect, it } from '@jest/globals';
import { MinLength } from 'class-validator';
import { z } from 'zod';

import { valueOf } from './fixtures.js';
import { compileShape } from '../src/compile.js';

it('a class with a Standard Schema as its static `schema` is checked and parsed by it (#23)', () => {
  class CityDto {
    static readonly schema = z.object({ city: z.string().trim().min(2) });
    city!: string;
  }
  expect(valueOf(CityDto, { city: ' Oslo ' })).toEqual({ city: 'Oslo' });
});

it('a DTO class whose static `schema` is something else keeps its own rules (#23)', () => {
  class NamedDto {
    static readonly schema = 'public';
    @MinLength(2) name!: string;
  }
  expect(compileShape(NamedDto, 'Test.member').published).toMatchObject({
    properties: { name: { type: 'string', minLength: 2 } },
  });
});
