// The hidden declarations of docs/guides/plugins.md.
import { Tool } from '@decorum/core';

export interface Sink {
  write(entry: object): void;
}
export const sink: Sink = { write: () => {} };
export const db = { query: async (sql: string) => await Promise.resolve(sql) };

export class Shop {
  @Tool({ description: 'Sells' })
  sell() {
    return 'sold';
  }
}
