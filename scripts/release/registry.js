/** A registry on this machine. It has what is published to it, and asks the usual registry for everything else. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, ROOT } from '../workspace.js';

const START_MS = 60_000;

/** The registry that packages of others come from. */
const UPSTREAM = process.env['npm_config_registry'] ?? 'https://registry.npmjs.org/';

/**
 * Everybody may publish, and our own packages come from nowhere else.
 * @param {string} storage
 */
const configuration = (storage) => ({
  storage,
  web: { enable: false },
  uplinks: { upstream: { url: UPSTREAM, timeout: '60s', max_fails: 10, cache: false } },
  packages: {
    '@decorum/*': { access: '$all', publish: '$all' },
    'create-decorum': { access: '$all', publish: '$all' },
    '**': { access: '$all', proxy: 'upstream' },
  },
  max_body_size: '50mb',
  log: { type: 'stderr', format: 'pretty', level: 'error' },
});

export class Registry {
  /**
   * @param {string} folder
   * @param {number} port
   */
  constructor(folder, port) {
    this.folder = folder;
    this.url = `http://127.0.0.1:${port}/`;
    const file = join(folder, 'config.yaml');
    // YAML includes JSON
    writeFileSync(file, JSON.stringify(configuration(join(folder, 'storage'))));
    const program = join(ROOT, 'test/release/node_modules/verdaccio/bin/verdaccio');
    const args = [program, '--config', file, '--listen', `127.0.0.1:${port}`];
    this.child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** Resolves when it answers. */
  static async start() {
    const registry = new Registry(mkdtempSync(join(tmpdir(), 'decorum-registry-')), await freePort());
    const end = Date.now() + START_MS;
    for (;;) {
      if (registry.child.exitCode !== null) throw new Error(`The registry exited with ${registry.child.exitCode}.`);
      const response = await fetch(new URL('-/ping', registry.url)).catch(() => undefined);
      if (response?.ok === true) return registry;
      if (Date.now() > end) {
        await registry.stop();
        throw new Error(`The registry did not answer within ${START_MS / 1000} s.`);
      }
      await sleep(100);
    }
  }

  /** What npm reads in a project. The token is one that nobody checks: npm asks for one before it publishes. */
  npmrc() {
    return `registry=${this.url}\n${this.url.replace('http:', '')}:_authToken=anybody\n`;
  }

  /**
   * An environment in which npm, pnpm and yarn know only this registry, and have a cache of their own.
   * @param {object} [more]
   * @returns {NodeJS.ProcessEnv}
   */
  env(more = {}) {
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(?:npm_|pnpm_|yarn_|NODE_(?:ENV|OPTIONS)$)/i.test(name),
    );
    return {
      ...Object.fromEntries(own),
      npm_config_registry: this.url,
      npm_config_cache: join(this.folder, 'npm'),
      YARN_REGISTRY: this.url,
      YARN_CACHE_FOLDER: join(this.folder, 'yarn'),
      NO_COLOR: '1',
      ...more,
    };
  }

  /**
   * What the registry says of a package.
   * @param {string} name
   */
  async manifest(name) {
    const response = await fetch(new URL(`${encodeURIComponent(name)}/latest`, this.url));
    if (!response.ok) throw new Error(`The registry has no ${name}: ${response.status}`);
    return /** @type {{ version: string, dist: { tarball: string } }} */ (await response.json());
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
