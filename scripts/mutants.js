/**
 * `npm run mutants [-- flows guard …]`: mutation testing. Makes one small change at a time to the files in
 * `mutants/targets.js` and runs their tests. Each test file is loaded once, and its tests run once for each mutant that
 * they reach. Nothing on disk is changed.
 *
 * Fails if fewer than 97 % of the mutants of a package are killed, if a survivor is not explained in
 * `mutants/survivors.json`, and if an explained mutant is killed or no longer exists.
 *
 * `--again` judges only the survivors of the last run, which helps while you write tests. `--verbose` prints what
 * happens to each mutant.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

import { mutantsOf } from './mutants/mutators.js';
import { TARGETS } from './mutants/targets.js';
import { ROOT } from './workspace.js';

/** Percentage of the mutants of each package that the tests must kill. */
const KILLED = 97;
/** A process that sends no message for this many seconds is in an endless loop. */
const SILENCE = 20;
const LAST_RUN = join(ROOT, '.mutants.json');

/** @typedef {import('./mutants/environment.js').Message} Message */
/** @typedef {import('./mutants/mutators.js').Mutant & { file: string, by?: string, reached: number, whileLoading: Set<string> }} Judged */

const { values: options, positionals } = parseArgs({
  options: { again: { type: 'boolean' }, verbose: { type: 'boolean' } },
  allowPositionals: true,
});

/** @param {string} file */
const read = (file) => readFileSync(join(ROOT, file), 'utf8');

const targets = Object.keys(TARGETS).filter(
  (file) =>
    positionals.length === 0 || positionals.some((name) => file.endsWith(name) || basename(file, '.ts') === name),
);
const lastSurvivors = options.again && existsSync(LAST_RUN) ? JSON.parse(readFileSync(LAST_RUN, 'utf8')) : undefined;

/** The sources as they are now, so that edits during the run do no harm. */
const sources = Object.fromEntries(targets.map((file) => [file, read(file)]));
/** @type {Map<string, Judged>} */
const mutants = new Map();
for (const [file, text] of Object.entries(sources)) {
  for (const mutant of mutantsOf(file, text)) {
    if (lastSurvivors && !lastSurvivors.includes(`${file} ${mutant.key}`)) continue;
    mutants.set(mutant.id, { ...mutant, file, reached: 0, whileLoading: new Set() });
  }
}

const folder = mkdtempSync(join(tmpdir(), 'decorum-mutants-'));
const planFile = join(folder, 'plan.json');

/**
 * Runs one test file in its own process.
 * @param {string} test
 * @param {Partial<import('./mutants/environment.js').Plan>} plan
 * @param {(message: Message) => void} take
 * @returns {Promise<boolean>} whether it ran to the end
 */
function runFile(test, plan, take) {
  writeFileSync(planFile, JSON.stringify({ sources, ids: [], ...plan }));
  const config = join(ROOT, 'scripts/mutants/jest.config.ts');
  const args = ['--experimental-vm-modules', '--no-warnings', join(ROOT, 'node_modules/jest/bin/jest.js')];
  const child = spawn(process.execPath, [...args, '--config', config, '-i', '--runTestsByPath', test], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, MUTANTS_PLAN: planFile },
  });
  let isDone = false;
  // ticks, not time: nothing must be killed because the machine was suspended
  let ticks = 0;
  const watch = setInterval(() => (ticks += 1) > SILENCE && child.kill('SIGKILL'), 1000);
  child.on('message', (/** @type {Message} */ message) => {
    ticks = 0;
    isDone ||= message.type === 'done';
    if (options.verbose && 'id' in message) console.log(JSON.stringify({ ...message, ...mutants.get(message.id) }));
    take(message);
  });
  return new Promise((resolve) => {
    child.on('close', () => {
      clearInterval(watch);
      resolve(isDone);
    });
  });
}

/** The tests that pass without a mutant, by test file. @type {Map<string, string[]>} */
const passing = new Map();
/** Tests that can't be repeated in one process, so they can't kill mutants. @type {string[]} */
const ignored = [];

/**
 * Judges the remaining mutants with the tests of one file.
 * @param {string} test
 */
async function judge(test) {
  const wanted = [...mutants.values()].filter(({ file, by }) => by === undefined && TARGETS[file]?.includes(test));
  const open = new Set(wanted.map(({ id }) => id));
  // allow one failure: a busy machine may be too slow
  let failures = 0;
  for (let isDone = open.size === 0; !isDone;) {
    /** @type {Judged | undefined} */
    let current;
    isDone = await runFile(test, { ids: [...open] }, (message) => {
      if (message.type === 'tests' && !passing.has(test)) {
        passing.set(test, message.passing);
        ignored.push(...message.ignored.map((name) => `${test}: ${name}`));
        for (const id of message.whileLoading) mutants.get(id)?.whileLoading.add(test);
      }
      if (message.type === 'begin') current = mutants.get(message.id);
      if (message.type === 'poisoned') current = undefined;
      if (message.type !== 'killed' && message.type !== 'survived') return;
      open.delete(message.id);
      current = undefined;
      const mutant = /** @type {Judged} */ (mutants.get(message.id));
      if (message.type === 'killed') mutant.by = message.by;
      else mutant.reached += message.reached;
    });
    if (!passing.has(test) && (failures += 1) > 1)
      throw new Error(`${test} can't be run. Run it with jest to see why.`);
    // the mutant caused an endless loop or ended the process
    if (current && !isDone) {
      open.delete(current.id);
      current.by = 'the process ended';
    }
  }
  const killed = wanted.filter(({ by }) => by !== undefined).length;
  if (wanted.length > 0) console.log(`${String(killed).padStart(4)} of ${String(wanted.length).padEnd(4)} ${test}`);
}

/**
 * Runs tests with a mutant that is active from the start.
 * @param {string} test
 * @param {string} loaded
 * @param {string[]} names
 */
async function runLoaded(test, loaded, names) {
  /** @type {Message | undefined} */
  let verdict;
  await runFile(test, { loaded, passing: names }, (message) => {
    if (message.type === 'killed' || message.type === 'survived') verdict = message;
  });
  return verdict;
}

/**
 * Judges a mutant of code that runs while modules load, so each run needs its own process. The failing test must pass
 * in a process without the mutant.
 * @param {Judged} mutant
 */
async function judgeLoaded(mutant) {
  for (const test of mutant.whileLoading) {
    const verdict = await runLoaded(test, mutant.id, passing.get(test) ?? []);
    const names = verdict?.type === 'killed' ? [verdict.by] : [];
    if (verdict?.type === 'survived') mutant.reached += verdict.reached;
    else if ((await runLoaded(test, 'none', names))?.type === 'survived') {
      mutant.by = names[0] ?? 'the file failed to load';
      return;
    }
  }
}

const start = performance.now();
for (const test of new Set(targets.flatMap((file) => TARGETS[file] ?? []))) await judge(test);
const loading = [...mutants.values()].filter(({ by, whileLoading }) => by === undefined && whileLoading.size > 0);
for (const mutant of loading) await judgeLoaded(mutant);
console.log(`${loading.filter(({ by }) => by).length} of ${loading.length} while modules load`);
rmSync(folder, { recursive: true });

/** Why a mutant survives, by file and key. @type {Record<string, Record<string, string>>} */
const explained = JSON.parse(read('scripts/mutants/survivors.json'));
/** @type {string[]} */
const problems = [];
const all = [...mutants.values()];
const survivors = all.filter(({ by }) => by === undefined);
writeFileSync(LAST_RUN, JSON.stringify(survivors.map(({ file, key }) => `${file} ${key}`)));

/**
 * Prints how many mutants were killed.
 * @param {string} name
 * @param {readonly Judged[]} of
 * @returns {number} the percentage
 */
function tell(name, of) {
  const killed = of.filter(({ by }) => by !== undefined).length;
  const share = (100 * killed) / of.length;
  console.log(`${name}: ${killed} of ${of.length} mutants killed, ${share.toFixed(1)} %`);
  return share;
}

for (const file of targets) {
  const of = all.filter((mutant) => mutant.file === file);
  tell(file, of);
  for (const { key, line, by, reached } of of) {
    const reason = explained[file]?.[key];
    if (by === undefined && reason === undefined) problems.push(`${file}:${line} ${key} (reached by ${reached} tests)`);
    if (by !== undefined && reason !== undefined) problems.push(`${file}:${line} ${key} is killed by "${by}"`);
  }
  if (lastSurvivors) continue;
  const gone = Object.keys(explained[file] ?? {}).filter((name) => !of.some(({ key }) => key === name));
  problems.push(...gone.map((key) => `${file} ${key} no longer exists`));
}
for (const test of ignored) console.log(`can't be repeated: ${test}`);
// some files have more code without a visible effect than others, so the share is per package
const isWhole = positionals.length === 0 && lastSurvivors === undefined;
/** @param {string} file */
const packageOf = (file) => file.split('/', 2).join('/');
for (const name of new Set(targets.map(packageOf))) {
  const of = all.filter(({ file }) => packageOf(file) === name);
  if (tell(name, of) < KILLED && isWhole) problems.push(`${name}: fewer than ${KILLED} % are killed`);
}
tell(`all, in ${Math.round((performance.now() - start) / 1000)} s`, all);
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
