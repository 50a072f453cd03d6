import { McpServer } from '@decorum/core';

export const server = new McpServer({ name: 'greeter', version: '1.0.0' });
