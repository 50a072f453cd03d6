import type { AuthEvent } from '@decorum/auth';

/** Functions that the page leaves to the reader. */
export const secretOf = (_client: string): string => 'secret';

export async function findUser(
  token: string,
): Promise<{ readonly id: string; readonly scopes: readonly string[] } | undefined> {
  return token === 'secret' ? { id: 'ada', scopes: ['mcp'] } : undefined;
}

export const audit = {
  write: (_entry: Pick<AuthEvent, 'type'> & Readonly<Record<string, unknown>>): void => {},
};

export const eventsOf = async (_accessToken: string): Promise<string[]> => [];

export async function sessionUser(cookie: string | undefined): Promise<{ readonly id: string } | undefined> {
  return cookie === undefined ? undefined : { id: 'ada' };
}
