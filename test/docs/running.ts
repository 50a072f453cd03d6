// Runs programs from the documentation unchanged.
import { type ChildProcess, type ChildProcessByStdio, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join, relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { transformSync } from '@swc/core';

import { filesUnder, ROOT } from '../architecture/source.js';
import { type Fragment, fragmentsOf } from './fragments.js';

const ANY_PORT = fileURLToPath(new URL('any-port.js', import.meta.url));

const SWC = {
  swcrc: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'es6' },
} as const;

/** The programs of a page, in their own folder. */
export class PagePrograms {
  readonly #folder = mkdtempSync(join(ROOT, 'test/docs/.tmp-page-'));
  readonly #fragments: readonly Fragment[];

  constructor(page: string) {
    this.#fragments = fragmentsOf(page);
    writeFileSync(join(this.#folder, 'package.json'), '{ "type": "module" }');
    for (const { file, text } of this.#fragments) this.write(file, text);
    for (const name of filesUnder('test/docs/setup', '.ts')) {
      this.write(join(ROOT, name), readFileSync(join(ROOT, name), 'utf8'));
    }
  }

  private write(file: string, text: string): void {
    const path = this.pathOf(file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, transformSync(text, SWC).code);
  }

  private pathOf(file: string): string {
    return join(this.#folder, relative(ROOT, file).replace(/\.ts$/, '.js'));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  /** All blocks with the paths of their programs. */
  get all(): { readonly fragment: Fragment; readonly path: string }[] {
    return this.#fragments.map((fragment) => ({ fragment, path: this.pathOf(fragment.file) }));
  }

  /** The program of a block: the block with this file name, otherwise the first block that contains the text. */
  programOf(fileOrText: string): string {
    const found =
      this.#fragments.find(({ block }) => block.file === fileOrText) ??
      this.#fragments.find(({ block }) => block.text.includes(fileOrText));
    if (found === undefined) throw new Error(`The page has no block with "${fileOrText}".`);
    return this.pathOf(found.file);
  }
}

/** A program of a page that serves HTTP, on a free port. */
export class PageProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly origin: string,
    private readonly written: string[],
  ) {}

  /**
   * @param port which of its ports to use, counted from 1: a block may depend on other blocks that listen too
   * @throws {Error} if the program ends before it listens
   */
  static async start(program: string, port = 1, place: Pick<SpawnOptions, 'cwd' | 'env'> = {}): Promise<PageProcess> {
    const child = spawn(process.execPath, ['--import', ANY_PORT, program], {
      ...place,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    const written: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => written.push(text));
    }
    const address = await new Promise<AddressInfo>((resolve, reject) => {
      const heard: AddressInfo[] = [];
      child.on('message', (each) => {
        heard.push(each as AddressInfo);
        if (heard.length === port) resolve(heard.at(-1) as AddressInfo);
      });
      child.on('close', () => reject(new Error(`${program} ended before it listened:\n${written.join('')}`)));
    });
    return new PageProcess(child, `http://127.0.0.1:${address.port}`, written);
  }

  /** Everything that the program has written to stdout and stderr. */
  get output(): string {
    return this.written.join('');
  }

  /** Waits until the program has written a text, which may arrive after the response to the request. */
  async wrote(pattern: RegExp): Promise<void> {
    const { stdout, stderr } = this.child as ChildProcessByStdio<Writable, Readable, Readable>;
    while (!pattern.test(this.output)) await Promise.race([once(stdout, 'data'), once(stderr, 'data')]);
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    const closed = once(this.child, 'close');
    this.child.kill('SIGTERM');
    const [code] = (await closed) as [number | null];
    return code;
  }
}
