import { McpServer, mount } from '@decorum/core';
import { tasks } from '@decorum/tasks';

import { createServer } from './server.js';
import { testSkills } from './skills.js';

/** A server whose members are all those of the other one. */
export function createMounted(): McpServer {
  // skills are methods of the server that clients connect to, and not only members
  const everything = createServer({ plugins: [tasks()] });
  return new McpServer({
    ...everything.info,
    instructions: 'Each tool, resource and prompt is that of a mounted server.',
    providers: [mount(everything)],
    plugins: [tasks(), testSkills()],
  });
}
