/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

type Dialect = { legacyDecorator: true; decoratorMetadata: true } | { decoratorVersion: '2022-03' };

// No `module.type`: @swc/jest then follows jest's own choice between ESM and CommonJS.
const swc = (transform: Dialect) => ({
  swcrc: false,
  jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform, keepClassNames: true },
  sourceMaps: 'inline',
});
const typescript = swc({ legacyDecorator: true, decoratorMetadata: true });
const tc39 = swc({ decoratorVersion: '2022-03' });
const javascript = { swcrc: false, jsc: { target: 'es2022', parser: { syntax: 'ecmascript' } } };

const config: Config = {
  testEnvironment: 'node',
  roots: ['<rootDir>/packages', '<rootDir>/examples', '<rootDir>/bench', '<rootDir>/test'],
  testMatch: ['**/test/**/*.test.ts'],
  // they are tests of generated projects, which run them
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/packages/create-decorum/templates/'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '/\\.tmp-'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.tc39(\\.test)?\\.ts$': ['@swc/jest', tc39],
    '\\.ts$': ['@swc/jest', typescript],
    // light-my-request requires cookie, which is ESM only
    '/node_modules/cookie/.+\\.js$': ['@swc/jest', javascript],
  },
  transformIgnorePatterns: ['/node_modules/(?!(?:\\.pnpm/cookie@|cookie/))'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@decorum/(auth|client|schema)/internal$': '<rootDir>/packages/$1/src/internal.ts',
    '^@decorum/core/(internal|plugin|transport)$': '<rootDir>/packages/core/src/$1.ts',
    '^@decorum/http/(node|fetch|lambda|cluster)$': '<rootDir>/packages/http/src/$1.ts',
    '^@decorum/(auth-server|tasks)/store-contract$': '<rootDir>/packages/$1/src/store-contract.ts',
    '^@decorum/example-weather/(.*)$': '<rootDir>/examples/weather/src/$1.ts',
    '^@decorum/testing/(contracts|jest|vitest)$': '<rootDir>/packages/testing/src/$1.ts',
    '^@decorum/(apps|audit|auth|auth-server|client|core|files|http|nestjs|openapi|opentelemetry|prometheus|redis|schema|search|skills|tasks|testing|uri-template)$':
      '<rootDir>/packages/$1/src/index.ts',
  },
  testTimeout: 120_000,
  maxWorkers: '100%',
  // Node frees no ES modules of files that are done, so one process would run out of memory
  workerIdleMemoryLimit: '1GB',
};

export default config;
