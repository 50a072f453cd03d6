/**
 * Asks the search over GitHub's REST operations the questions of a file, and prints those that it misses:
 * `node test/search/ask.js FILE` after `npm run build`. The file is JSON: an array of
 * `{ "question": "open a ticket", "tools": ["issues/create"] }`, where each of the tools is a right answer.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { McpServer } from '../../packages/core/dist/index.js';
import { openapi } from '../../packages/openapi/dist/index.js';
import { search } from '../../packages/search/dist/index.js';
import { connect } from '../../packages/testing/dist/index.js';

/** The places that count, and those that are looked at to say how far away a right answer is. */
const FIRST = 5;
const LOOKED_AT = 20;

/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`);

const document = createRequire(import.meta.url)('@octokit/openapi/generated/api.github.com.json');
const operations = new Set(
  Object.values(document.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId)),
);
const source = await openapi(document, { baseUrl: 'https://api.github.com', headers: {}, validate: false });
const client = await connect(
  new McpServer({ name: 'github', version: '1.0.0', providers: [source], plugins: [search()] }),
);

/** @type {import('./questions.js').SearchQuestion[]} */
const questions = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
let found = 0;
for (const { question, tools } of questions) {
  const unknown = tools.filter((tool) => !operations.has(tool));
  if (unknown.length > 0) print(`no such operation: ${unknown.join(', ')}`);
  const { structuredContent } = await client.callTool('search_tools', { query: question, limit: LOOKED_AT });
  const { tools: listed } = /** @type {{ tools: { name: string }[] }} */ (structuredContent);
  const names = listed.map(({ name }) => name);
  const place = names.findIndex((name) => tools.some((tool) => tool.replace('/', '_') === name)) + 1;
  if (place > 0 && place <= FIRST) found += 1;
  else print(`missed (${place || `not among ${LOOKED_AT}`}): ${question}\n  ${names.slice(0, FIRST).join(' ')}`);
}
await client.close();
print(`${found} of ${questions.length} have a right tool among the first ${FIRST}`);
