// What docs/plugins.md takes for granted.
import { Tool } from '@decorum/core';

export interface Sink {
  write(entry: object): void;
}
export declare const sink: Sink;
export declare const db: { query(sql: string): Promise<void> };

export class Shop {
  @Tool({ description: 'Sells' })
  sell() {
    return 'sold';
  }
}
