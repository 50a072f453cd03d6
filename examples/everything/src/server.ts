import { McpServer, type McpServerOptions } from '@decorum/core';
import { tasks } from '@decorum/tasks';

import { Contents } from './contents.js';
import { Conversations } from './conversations.js';
import { Forms } from './forms.js';
import { Notes } from './notes.js';
import { Prompts } from './prompts.js';
import { Questions } from './questions.js';
import { Resources } from './resources.js';
import { Schemas } from './schemas.js';
import { testSkills } from './skills.js';
import { Tasks } from './tasks.js';
import { Triggers } from './triggers.js';

/** A server with everything that the official conformance suite tests. */
export function createServer(options: Partial<McpServerOptions> = {}): McpServer {
  return new McpServer({
    name: 'everything',
    version: '1.0.0',
    title: 'Everything',
    instructions: 'Each tool, resource and prompt shows one feature of the protocol.',
    providers: [Contents, Conversations, Questions, Forms, Schemas, Resources, Prompts, Triggers, Tasks, Notes],
    plugins: [tasks(), testSkills()],
    ...options,
  });
}
