// A server whose calls end in every way, and folders for its log.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { audit, type AuditOptions } from '@decorum/audit';
import { type Context, McpServer, type McpServerOptions, Prompt, Resource, Tool, ToolError } from '@decorum/core';
import { IsString } from 'class-validator';

export const KEY = 'a secret of the tests that is long enough';

class Order {
  @IsString() sku!: string;
}

export class Shop {
  @Tool() buy({ sku }: Order) {
    return `Bought ${sku}`;
  }

  @Tool() refuse(): string {
    throw new ToolError('Sold out.');
  }

  @Tool() fail(): string {
    throw new Error('the password of the database is hunter2');
  }

  @Tool({ access: () => false }) secret() {
    return 'nobody gets this';
  }

  @Tool() async ask({ sku }: Order, ctx: Context) {
    return (await ctx.confirm(`Buy ${sku}?`)) ? 'Bought' : 'Left';
  }

  @Tool() async wait({ sku }: Order, ctx: Context) {
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    return sku;
  }

  @Prompt() praise({ sku }: Order) {
    return `Praise ${sku}`;
  }

  @Resource('shop://{sku}') article({ sku }: Order) {
    return `About ${sku}`;
  }
}

/** A server with an audit log. */
export const shop = (options: AuditOptions, more: Partial<McpServerOptions> = {}) =>
  new McpServer({
    name: 'shop',
    version: '1.0.0',
    providers: [Shop],
    logger: { error() {}, warn() {} },
    ...more,
    plugins: [audit({ key: KEY, ...options })],
  });

/** One line of a log. */
export type Line = Readonly<Record<'at' | 'outcome' | 'mac', string>> & {
  readonly caller: Readonly<Record<string, string>> | null;
  readonly member: { readonly kind: string; readonly name: string | null } | null;
  readonly args: unknown;
  readonly cause: string | null;
  readonly ref: string | null;
};

export const parsed = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line);

/** The lines of a file. */
export const linesIn = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

/** Collects lines. */
export class Lines {
  readonly all: string[] = [];
  readonly options = { write: (line: string) => void this.all.push(line) };

  get parsed(): Line[] {
    return parsed(this.all);
  }
}

/** A folder for one test. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'decorum-audit-'));

  file(name: string): string {
    return join(this.path, name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
