/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

import base from '../../jest.config.ts';

const { transform = {} } = base;
const [, swc] = transform['\\.ts$'] as [string, Record<string, unknown>];

const config: Config = {
  ...base,
  rootDir: '../..',
  testEnvironment: '<rootDir>/scripts/mutants/environment.js',
  transform: { ...transform, '\\.ts$': ['<rootDir>/scripts/mutants/transform.js', swc] },
};

export default config;
