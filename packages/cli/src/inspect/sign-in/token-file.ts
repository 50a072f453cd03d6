import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type { OAuthClientInformation, OAuthTokens } from '@decorum/client';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT } from 'create-decorum';

/** What is kept of a sign-in. */
export interface SignedIn {
  /** The URL of the MCP server. */
  readonly server: string;
  /** The authorization server that knows the client, and has issued the tokens. */
  readonly issuer: string;
  readonly client: OAuthClientInformation;
  /** The port of the redirect URI with which the client is registered. */
  readonly port: number;
  readonly tokens?: OAuthTokens | undefined;
}

function configFolder({ XDG_CONFIG_HOME: xdg, APPDATA: appData }: NodeJS.ProcessEnv): string {
  if (xdg) return xdg;
  return process.platform === 'win32' && appData ? appData : join(homedir(), '.config');
}

/** The file of a server's sign-in. Only the user can read it. */
export class TokenFile {
  private readonly folder = join(configFolder(process.env), 'decorum', 'sign-ins');
  private readonly server: string;
  private readonly file: string;

  constructor(url: URL) {
    const { origin, pathname, search } = url;
    this.server = `${origin}${pathname}${search}`;
    const digest = createHash('sha256').update(this.server).digest('hex').slice(0, 32);
    this.file = join(this.folder, `${url.hostname.replaceAll(/[^\w.-]/g, '_')}-${digest}.json`);
  }

  /** What is kept; undefined if nothing is, or if it can't be read. */
  read(): SignedIn | undefined {
    try {
      const kept: unknown = JSON.parse(readFileSync(this.file, 'utf8'));
      return isObject(kept) && kept['server'] === this.server ? (kept as unknown as SignedIn) : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Replaces what is kept, at once: another process never reads half of it.
   * @throws {CommandFailure} with `EXIT.environment`
   */
  write(signedIn: Omit<SignedIn, 'server'>): void {
    const temporary = `${this.file}.${randomUUID()}`;
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ server: this.server, ...signedIn }, null, 2);
      writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
      renameSync(temporary, this.file);
    } catch (error) {
      rmSync(temporary, { force: true });
      const problem = `${this.file} can't be written: ${(error as Error).message}.`;
      throw new CommandFailure(problem, EXIT.environment, error);
    }
  }

  /** Forgets the sign-in. Returns whether there was one. */
  remove(): boolean {
    const had = this.read() !== undefined;
    rmSync(this.file, { force: true });
    return had;
  }
}
