import { definePlugin, type Plugin } from '@decorum/core/plugin';

/** Serves agent skills. */
export const skills: (folder: string) => Plugin = definePlugin((_folder: string) => ({
  name: 'skills',
  extensions: [{ id: 'io.modelcontextprotocol/skills', callers: 'all' }],
}));
