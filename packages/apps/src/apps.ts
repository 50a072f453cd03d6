import { definePlugin, type Plugin } from '@decorum/core/plugin';

/** Serves cards for tools. */
export const apps: () => Plugin = definePlugin(() => ({
  name: 'apps',
  extensions: [{ id: 'io.modelcontextprotocol/ui' }],
}));
