import type { Rule } from '../rule.js';
import { aboveTools, inTools } from './finders.js';

const FEWER = 'serve fewer tools, or list a few of them with `search()` of @decorum/search';
const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);

/** Claude Code warns of lists that take more. */
const MAX_TOKENS = 25_000;

/** How many tools clients take, and how long descriptions may be. */
export const SIZES: readonly Rule[] = [
  {
    name: 'openai-tools',
    client: 'openai',
    severity: 'error',
    about: 'A request has at most 128 tools',
    fix: FEWER,
    source: 'https://github.com/zed-industries/zed/issues/32946',
    find: aboveTools(128),
  },
  {
    name: 'vscode-tools',
    client: 'vscode',
    severity: 'error',
    about: 'A request has at most 128 tools, from all servers',
    fix: FEWER,
    source: 'https://github.com/microsoft/vscode/issues/258890',
    find: aboveTools(128),
  },
  {
    name: 'windsurf-tools',
    client: 'windsurf',
    severity: 'error',
    about: 'Cascade has at most 100 tools, from all servers',
    fix: FEWER,
    source: 'https://docs.windsurf.com/windsurf/cascade/mcp',
    find: aboveTools(100),
  },
  {
    name: 'cursor-tools',
    client: 'cursor',
    severity: 'warning',
    about: 'Above 80 tools from all servers, users are warned',
    fix: FEWER,
    source: 'https://github.com/Snowflake-Labs/mcp/issues/77',
    find: aboveTools(80),
  },
  {
    name: 'openai-description',
    client: 'openai',
    severity: 'warning',
    about: 'Some models refuse descriptions of tools with more than 1024 characters',
    fix: 'shorten the description, or move details to those of the arguments',
    source: 'https://github.com/modelcontextprotocol/servers/issues/799',
    find: inTools(({ description }) => {
      const length = lengthOf(description);
      return length > 1024 && `some models refuse the description: it has ${length} characters, more than 1024`;
    }),
  },
  {
    name: 'claude-code-description',
    client: 'claude-code',
    severity: 'warning',
    about: 'Descriptions of tools are cut after 2048 characters',
    fix: 'put what matters first, or shorten the description',
    source: 'https://github.com/anthropics/claude-code/issues/41593',
    find: inTools(({ description }) => {
      const length = lengthOf(description);
      return length > 2048 && `the description is cut: it has ${length} characters, more than 2048`;
    }),
  },
  {
    name: 'claude-code-tokens',
    client: 'claude-code',
    severity: 'warning',
    about: 'Lists of tools with more than about 25,000 tokens bring a warning to users',
    fix: FEWER,
    source: 'https://github.com/anthropics/claude-code/issues/12241',
    *find({ server, tokens, isShort }) {
      if (tokens <= MAX_TOKENS || isShort) return;
      yield { member: server, path: 'tools', why: `the list takes about ${tokens} tokens, more than ${MAX_TOKENS}` };
    },
  },
];
