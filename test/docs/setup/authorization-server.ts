import type { AuthStore } from '@decorum/auth-server';
import { memoryStore } from '@decorum/auth-server';
import type { ContractClock } from '@decorum/auth-server/store-contract';

/** Functions that the page leaves to the reader. */
export async function sessionUser(
  cookie: string | undefined,
): Promise<{ readonly id: string; readonly email: string } | undefined> {
  return cookie === undefined ? undefined : { id: 'ada', email: 'ada@example.com' };
}

export const createStore = async (): Promise<{ readonly store: AuthStore; readonly clock: ContractClock }> => ({
  store: memoryStore(),
  clock: { now: () => 0, pass: () => {} },
});

export const secretOf = (_client: string): string => 'secret';

export const staff = new Set<unknown>(['octocat']);

export const repositoriesOf = async (_accessToken: string): Promise<string[]> => [];
