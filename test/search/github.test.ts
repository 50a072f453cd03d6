// The search over a large API: GitHub's, which no tool of ours was written for.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { type CallToolResult, McpServer } from '@decorum/core';
import { openapi } from '@decorum/openapi';
import { search } from '@decorum/search';
import { connect, type TestClient } from '@decorum/testing';
import { countTokens } from 'gpt-tokenizer';

import { BLIND_QUESTIONS, DRAWN_QUESTIONS } from './more-questions.js';
import { QUESTIONS, type SearchQuestion } from './questions.js';

/** The questions whose answers are not among the first five. Their words are not those of the API. */
const MISSED = [
  'store an API key so that the pipelines of this repo can use it',
  'which accounts have installed our GitHub App',
  'which checks ran on this commit and did they pass',
  'ready-made ignore file for a Python project',
  'for the next day let only people who contributed before comment here',
  'who can I give this ticket to',
  'ask Alice to look at my pull request',
];

/** The same of the blind questions, which the ranking wasn't made for. */
const BLIND_MISSED = [
  'get the files that the nightly build produced',
  'which of our own build machines are offline',
  'what is new for me, unread mentions and so on',
  "get a token so our app can act on a customer's account",
  'which lines did the linter complain about in this check run',
  'list the problems CodeQL found in our code',
  'take the Copilot license away from someone who changed jobs',
  'which of our dependencies have known vulnerabilities',
  'what new packages does this branch bring in compared to main',
  'list every file in the repo, subfolders included',
  "note that we can't work on this ticket until the other one is done",
  "who has access to our code but isn't an employee",
  'get rid of an old version of our docker image',
  'read src/index.ts',
  'what changed between v1.2 and v1.3',
  'history of changes to package.json',
  'where in our code is parseConfig called',
  'who am I logged in as',
  'keep strangers from commenting in any of our repos for a week',
  'this token ended up on the internet, kill it',
];

/** The same of the drawn questions. */
const DRAWN_MISSED = [
  'take the wontfix label off issue 88',
  'remove old-config.yml from the main branch',
  'get rid of my test-sandbox repository for good',
  'what are the smaller tasks under issue 120',
  'our webhook call failed, send it again',
  'star the facebook/react repo for me',
  'do any of the dependencies in this repo have known vulnerabilities',
  'can issues in this repo be assigned to octocat',
  'which orgs am I in',
  'what GitHub Actions workflows are set up in this repo',
  'let Dependabot open security fix pull requests on this repo by itself',
  'I deleted version 1.4.2 of my package by mistake, bring it back',
  'what environments can we deploy to from this repo',
  'the design team should no longer have access to this repo',
];

/** The share of the tokens of the whole list that the short list may have. */
const SHARE = 0.03;

let server: McpServer;
let client: TestClient;

beforeAll(async () => {
  const file = createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json');
  const document = JSON.parse(readFileSync(file, 'utf8')) as object;
  const options = { baseUrl: 'https://api.github.com', headers: {}, validate: false };
  const providers = [await openapi(document, options)];
  server = new McpServer({ name: 'github', version: '1.0.0', providers, plugins: [search()], pageSize: 50 });
  client = await connect(server);
});

afterAll(async () => {
  await client.close();
});

async function foundFor(query: string): Promise<readonly string[]> {
  const { structuredContent } = (await client.callTool('search_tools', { query })) as CallToolResult & {
    structuredContent: { tools: readonly { name: string }[] };
  };
  return structuredContent.tools.map(({ name }) => name);
}

/** The questions that have no right tool among the first five. */
async function missedOf(questions: readonly SearchQuestion[]): Promise<readonly string[]> {
  const missed: string[] = [];
  for (const { question, tools } of questions) {
    const names = await foundFor(question);
    if (!tools.some((id) => names.includes(id.replace('/', '_')))) missed.push(question);
  }
  return missed;
}

/** The pages of the list of tools that a client gets who asks for all. */
async function wholeList(): Promise<readonly object[]> {
  const pages: { nextCursor?: string; tools: readonly object[] }[] = [];
  let cursor: string | undefined;
  do {
    const params = { ...(cursor !== undefined && { cursor }), _meta: { 'dev.decorum/tools': 'all' } };
    const page = await client.request<{ nextCursor?: string; tools: readonly object[] }>('tools/list', params);
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages.flatMap(({ tools }) => tools);
}

const tokensOf = (tools: readonly object[]): number =>
  tools.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0);

describe('the search over the operations of GitHub', () => {
  it('has the right tool among the first five for at least 40 of 50 questions that were known when words were added', async () => {
    const missed = await missedOf(QUESTIONS);
    expect(missed).toEqual(MISSED);
    expect(QUESTIONS.length - missed.length).toBeGreaterThanOrEqual(40);
  });

  it('has it for at least 27 of 50 blind questions, which the ranking was not made for', async () => {
    const missed = await missedOf(BLIND_QUESTIONS);
    expect(missed).toEqual(BLIND_MISSED);
    expect(BLIND_QUESTIONS.length - missed.length).toBeGreaterThanOrEqual(27);
  });

  it('has it for at least 34 of 50 drawn questions, which were asked once', async () => {
    const missed = await missedOf(DRAWN_QUESTIONS);
    expect(missed).toEqual(DRAWN_MISSED);
    expect(DRAWN_QUESTIONS.length - missed.length).toBeGreaterThanOrEqual(34);
  });

  it('finds a tool first by its name', async () => {
    const names = ['pulls_list-files', 'repos_get', 'issues_create', 'actions_re-run-workflow-failed-jobs'];
    for (const name of names) expect((await foundFor(name))[0]).toBe(name);
  });

  it('replaces a list with more than thirty times the tokens', async () => {
    const all = await wholeList();
    expect(all.length).toBeGreaterThan(1100);
    const few = await client.listTools();
    expect(few).toHaveLength(2);
    expect(tokensOf(few)).toBeLessThan(tokensOf(all) * SHARE);
  });
});
