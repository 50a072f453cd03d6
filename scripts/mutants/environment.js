/**
 * A jest environment that runs the tests of one file once per mutant, without loading the file again. It reads its
 * `Plan` from `MUTANTS_PLAN` and sends a `Message` for everything it finds to the parent process.
 *
 * A mutant is killed if a test fails with it, passes again without it, and fails with it once more. So neither a flaky
 * test nor leftovers of an earlier mutant can kill it.
 */
import { readFileSync } from 'node:fs';

import { TestEnvironment } from 'jest-environment-node';

/**
 * @typedef {object} Plan
 * @property {Record<string, string>} sources the files to instrument
 * @property {string[]} ids the mutants to judge
 * @property {string} [loaded] the one mutant that is active from the start, for code that runs while a module loads
 * @property {string[]} [passing] the tests that pass without it
 */
/**
 * @typedef {{ type: 'tests', passing: string[], ignored: string[], whileLoading: string[] }
 *   | { type: 'begin', id: string } | { type: 'alive' } | { type: 'poisoned', id: string }
 *   | { type: 'killed', id: string, by: string } | { type: 'survived', id: string, reached: number }
 *   | { type: 'done' }} Message
 */
/** @typedef {import('@jest/types').Circus.TestEntry} Test */
/** @typedef {import('@jest/types').Circus.DescribeBlock} Block */
/** @typedef {{ test: Test, name: string, reaches: Set<string>, ms: number }} Known */

/** Milliseconds for a test whose usual time is unknown. */
const FIRST_LIMIT = 20_000;

/** @param {Message} message */
const send = (message) => new Promise((resolve) => process.send?.(message, resolve));

/** @param {Block} block @returns {Test[]} */
const testsOf = (block) =>
  block.children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child))).filter(isEnabled);

/** @param {Test} test */
const isEnabled = (test) =>
  test.mode !== 'skip' && test.mode !== 'todo' && !test.failing && blocksOf(test).every(({ mode }) => mode !== 'skip');

/** The blocks around a test, outermost first.
 * @param {Test} test */
function blocksOf(test) {
  const blocks = [];
  for (let block = /** @type {Block | undefined} */ (test.parent); block; block = block.parent) blocks.unshift(block);
  return blocks;
}

/** @param {Test} test */
const nameOf = (test) => [...blocksOf(test).slice(1), test].map(({ name }) => name).join(' › ');

export default class MutantsEnvironment extends TestEnvironment {
  /** @type {Plan} */
  plan = JSON.parse(readFileSync(process.env['MUTANTS_PLAN'] ?? '', 'utf8'));
  active = this.plan.loaded;
  /** @type {Set<string>} */
  reached = new Set();
  /** @type {(error: unknown) => void} */
  onError = () => {};

  /** @param {ConstructorParameters<typeof TestEnvironment>} args */
  constructor(...args) {
    super(...args);
    process.once('disconnect', () => process.exit());
    /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (this.global))['__mutant'] = (
      /** @type {string} */ id,
    ) => {
      if (id === this.active) return true;
      this.reached.add(id);
      return false;
    };
  }

  /**
   * @param {import('@jest/types').Circus.AsyncEvent | import('@jest/types').Circus.SyncEvent} event
   * @param {import('@jest/types').Circus.State} state
   */
  async handleTestEvent(event, state) {
    if (event.name === 'error') this.onError(event.error);
    if (event.name !== 'run_start') return;
    const tests = testsOf(state.rootDescribeBlock);
    await (this.plan.loaded === undefined ? this.judgeAll(tests) : this.judgeLoaded(tests, this.plan.loaded));
    await send({ type: 'done' });
    // jest has nothing more to do, and leftovers of the mutants must not keep the process alive
    process.exit();
  }

  /** @param {Test[]} tests */
  async judgeAll(tests) {
    const whileLoading = [...this.reached];
    const known = await this.observe(tests);
    const passing = known.map(({ name }) => name);
    const ignored = tests.map(nameOf).filter((name) => !passing.includes(name));
    await send({ type: 'tests', passing, ignored, whileLoading });
    let isFresh = true;
    for (const id of this.plan.ids) {
      const reaching = known.filter(({ reaches }) => reaches.has(id)).sort((one, other) => one.ms - other.ms);
      if (reaching.length === 0) continue;
      await send({ type: 'begin', id });
      await this.judge(id, reaching, isFresh);
      isFresh = false;
    }
  }

  /**
   * Runs every test twice without a mutant. Ignores tests that don't pass both times: they can't be repeated.
   * @param {Test[]} tests
   */
  async observe(tests) {
    /** @type {Known[]} */
    const known = [];
    for (const test of tests) {
      this.reached = new Set();
      const limit = (test.timeout ?? 0) + FIRST_LIMIT;
      const first = await this.fails(test, limit);
      const start = performance.now();
      const failed = first || (await this.fails(test, limit));
      if (!failed) known.push({ test, name: nameOf(test), reaches: this.reached, ms: performance.now() - start });
      await send({ type: 'alive' });
    }
    return known;
  }

  /**
   * @param {string} id
   * @param {Known[]} tests
   * @param {boolean} isFresh whether it is the first mutant of this process
   */
  async judge(id, tests, isFresh) {
    for (const { test, name, ms } of tests) {
      const limit = Math.max(1_000, ms * 10);
      const failsWith = async (/** @type {string | undefined} */ active) => {
        this.active = active;
        const failed = await this.fails(test, limit);
        this.active = undefined;
        return failed;
      };
      await send({ type: 'alive' });
      if (!(await failsWith(id))) continue;
      const isPoisoned = await failsWith(undefined);
      if (!isPoisoned && !(await failsWith(id))) continue;
      if (isPoisoned && !isFresh) {
        // an earlier mutant may have caused this: judge this one again, as the first in a new process
        await send({ type: 'poisoned', id });
        process.exit();
      }
      await send({ type: 'killed', id, by: name });
      if (isPoisoned) process.exit();
      return;
    }
    await send({ type: 'survived', id, reached: tests.length });
  }

  /**
   * @param {Test[]} tests
   * @param {string} id
   */
  async judgeLoaded(tests, id) {
    await send({ type: 'begin', id });
    for (const test of tests) {
      if (!this.plan.passing?.includes(nameOf(test))) continue;
      await send({ type: 'alive' });
      if (!(await this.fails(test, 5_000)) || !(await this.fails(test, 5_000))) continue;
      return await send({ type: 'killed', id, by: nameOf(test) });
    }
    return await send({ type: 'survived', id, reached: tests.length });
  }

  /**
   * Runs a test with its hooks. Resolves with whether it failed.
   * @param {Test} test
   * @param {number} limit in milliseconds
   */
  async fails(test, limit) {
    let failed = false;
    const blocks = blocksOf(test);
    const context = {};
    /** @param {Function | undefined | null} step */
    const attempt = async (step) => {
      try {
        await this.inTime(() => step?.call(context), limit);
      } catch {
        failed = true;
      }
    };
    /** @type {(kind: string, of: Block[]) => Promise<void>} */
    const hooks = async (kind, of) => {
      for (const block of of) for (const { type, fn } of block.hooks) if (type === kind) await attempt(fn);
    };
    await hooks('beforeAll', blocks);
    await hooks('beforeEach', blocks);
    if (!failed) await attempt(test.fn);
    await hooks('afterEach', blocks.toReversed());
    await hooks('afterAll', blocks.toReversed());
    return failed;
  }

  /**
   * @param {() => unknown} step
   * @param {number} limit in milliseconds
   */
  async inTime(step, limit) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    try {
      await new Promise((resolve, reject) => {
        this.onError = reject;
        timer = setTimeout(() => reject(new Error('too late')), limit);
        // unhandled rejections are reported after the promise jobs
        Promise.resolve()
          .then(step)
          .then(() => setImmediate(resolve), reject);
      });
    } finally {
      clearTimeout(timer);
      this.onError = () => {};
    }
  }
}
