import type { Rule } from '../rule.js';
import { inSchemas, inTools, nameOf } from './finders.js';

const PLAIN = /^[\w-]{1,64}$/;

/** Cursor drops a tool if the two names have 60 characters or more, as PostHog and Composio report. */
const MAX_CURSOR = 59;

/** What clients expect of the names of tools and arguments. */
export const NAMES: readonly Rule[] = [
  {
    name: 'claude-name',
    client: 'claude',
    severity: 'error',
    about: 'Names of tools have letters, digits, `_` and `-`, and at most 64 characters',
    fix: "set the tool's `name` to one like `search_invoices`",
    source: 'https://github.com/docker/mcp-gateway/issues/228',
    find: inTools((tool) => !PLAIN.test(nameOf(tool)) && 'the name is refused: it must match ^[a-zA-Z0-9_-]{1,64}$'),
  },
  {
    name: 'openai-name',
    client: 'openai',
    severity: 'error',
    about: 'Names of tools have letters, digits, `_` and `-`: no dots',
    fix: 'replace other characters with `_`',
    source: 'https://github.com/openai/codex/issues/8174',
    find: inTools((tool) => !/^[\w-]+$/.test(nameOf(tool)) && 'the name is refused: it must match ^[a-zA-Z0-9_-]+$'),
  },
  {
    name: 'openai-name-length',
    client: 'openai',
    severity: 'error',
    about: 'Names of tools have at most 64 characters',
    fix: "shorten the tool's `name`",
    source: 'https://github.com/nanbingxyz/5ire/issues/403',
    find: inTools((tool) => {
      const { length } = nameOf(tool);
      return length > 64 && `the name is refused: it has ${length} characters, more than 64`;
    }),
  },
  {
    name: 'gemini-name',
    client: 'gemini',
    severity: 'error',
    about: 'Names of tools begin with a letter or `_`, and have at most 64 characters',
    fix: "set the tool's `name` to one like `search_invoices`",
    source: 'https://github.com/google-gemini/gemini-cli/issues/2966',
    find: inTools(
      (tool) =>
        !/^[a-zA-Z_][\w.-]{0,63}$/.test(nameOf(tool)) &&
        'the name is refused: it must begin with a letter or _, and have at most 64 characters',
    ),
  },
  {
    name: 'cursor-name-length',
    client: 'cursor',
    severity: 'error',
    about: 'The names of the server and a tool have at most 59 characters together',
    fix: "shorten the tool's `name`, or that of the server",
    source: 'https://github.com/ComposioHQ/composio/issues/2788',
    find: inTools((tool, { server }) => {
      const length = server.length + nameOf(tool).length;
      return length > MAX_CURSOR && `is left out: with the server's name, its name has ${length} characters`;
    }),
  },
  {
    name: 'claude-property-name',
    client: 'claude',
    severity: 'error',
    about: 'Names of arguments have letters, digits, `_`, `.` and `-`, and at most 64 characters',
    fix: 'rename the argument',
    source: 'https://github.com/anthropics/claude-code/issues/79418',
    find: inSchemas(({ schema: { properties } }) => {
      const wrong = Object.keys(Object(properties) as object).find((name) => !/^[\w.-]{1,64}$/.test(name));
      return wrong !== undefined && `the argument "${wrong}" is refused: it must match ^[a-zA-Z0-9_.-]{1,64}$`;
    }),
  },
];
