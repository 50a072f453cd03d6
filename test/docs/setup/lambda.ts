import { McpServer } from '@decorum/core';

import { Weather } from './weather.js';

export { Weather };

export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
export declare function work(records: unknown): Promise<void>;
