/** The rules of the MCP registry that its JSON schema has, and those that it has in addition. */
import type { Implementation } from '@decorum/core';

import { looksSecret } from '../install/secrets.js';
import { type Package, plainName, repositoryOf } from './project.js';

/** Where else the server can be had. */
export interface Places {
  /** URL of the deployed server. */
  readonly url: string | undefined;
  /** URL of the bundle for desktop clients. */
  readonly mcpb: string | undefined;
}

/** The parts of `server.json` that a person writes. */
export interface Written extends Places {
  readonly described: Package;
  readonly info: Implementation;
  /** How the program serves over stdio. */
  readonly stdio: 'always' | 'with --stdio' | 'never';
}

const NAME = /^[a-z\d][a-z\d-]*(?:\.[a-z\d-]+)*\.(?:[a-z\d-]*[a-z\d])\/[a-z\d][\w.-]*[a-z\d]$/i;

const MAX_TEXT = 100;

/** What the server does, as clients see it. */
export const descriptionOf = ({ described, info }: Written): string | undefined =>
  info.description ?? described.description;

/** Everything that the registry would refuse, with what to do about it. */
export function problemsOf(written: Written): readonly string[] {
  return [
    nameProblem(written),
    versionProblem(written),
    ...textProblems(written),
    ...packageProblems(written),
    ...placeProblems(written),
  ].filter((each) => each !== undefined);
}

function nameProblem({ described }: Written): string | undefined {
  const { mcpName } = described;
  const example = exampleName(described);
  if (mcpName === undefined) {
    return `package.json has no \`mcpName\`, which is the name in the registry. Add "mcpName": "${example}".`;
  }
  if (typeof mcpName === 'string' && mcpName.length <= 200 && NAME.test(mcpName)) return undefined;
  return `\`mcpName\` in package.json must be a reversed domain, a slash and a name. Write "${example}".`;
}

function exampleName(described: Package): string {
  const url = repositoryOf(described)?.url ?? 'https://github.com/YOU';
  const [, owner] = new URL(url).pathname.split('/');
  return `${url.includes('gitlab') ? 'com.gitlab' : 'io.github'}.${owner}/${plainName(described)}`;
}

function versionProblem({ described: { version } }: Written): string | undefined {
  if (version === undefined) return 'package.json has no `version`. Add "version": "1.0.0".';
  const isExact = version.length <= 255 && !/^$|^[\^~<>=v]|[*\s|]|(?:^|\.)x(?:\.|$)|^latest$/i.test(version);
  return isExact ? undefined : `\`version\` in package.json is "${version}", which is no exact one. Write "1.0.0".`;
}

function textProblems(written: Written): readonly (string | undefined)[] {
  const description = descriptionOf(written) ?? '';
  const { title } = written.info;
  return [
    description.trim() === ''
      ? 'The server has no `description`. Add one of up to 100 characters to `new McpServer({ … })`.'
      : tooLong('description', description),
    title?.trim() === '' ? '`title` of the server is empty. Remove it, or write one.' : tooLong('title', title ?? ''),
  ];
}

function tooLong(option: string, text: string): string | undefined {
  // as JSON Schema counts
  const length = [...text].length;
  if (length <= MAX_TEXT) return undefined;
  return `\`${option}\` of the server has ${length} characters, but the registry allows ${MAX_TEXT}. Shorten it.`;
}

function packageProblems({ described, stdio }: Written): readonly (string | undefined)[] {
  if (described.private === true) return [];
  return [
    /^\S+$/.test(described.name ?? '') ? undefined : 'package.json has no `name` of a package. Add "name": "weather".',
    isStarted(described)
      ? undefined
      : 'package.json has no `bin` that `npx` can start. Add "bin": "dist/main.js", or "private": true.',
    stdio === 'never'
      ? 'The program serves only HTTP, so clients can\'t start it with `npx`. Add "private": true to package.json, and pass --url.'
      : undefined,
  ];
}

/** Whether `npx` knows what to start: the only program, or the one with the name of the package. */
function isStarted(described: Package): boolean {
  const { bin } = described;
  if (typeof bin !== 'object') return bin !== undefined;
  return new Set(Object.values(bin)).size === 1 || Object.hasOwn(bin, plainName(described));
}

function placeProblems({ described, url, mcpb }: Written): readonly (string | undefined)[] {
  if (described.private === true && url === undefined && mcpb === undefined) {
    const remedy = 'Pass --url for a deployed server or --mcpb for a bundle, or remove "private" from package.json.';
    return [`Nobody can get the server: its package is private. ${remedy}`];
  }
  return [
    url === undefined || isPublicUrl(url)
      ? undefined
      : `--url is "${url}", but must be an https URL that everybody can reach, without credentials.`,
    mcpb === undefined || isRelease(mcpb)
      ? undefined
      : `--mcpb is "${mcpb}", but the registry takes bundles only from releases on github.com or gitlab.com, with ` +
        '"mcp" in the URL.',
  ];
}

/** Addresses in private networks, and of the machine itself. */
const PRIVATE = /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.|\.(?:local|localhost|internal)$/;

function isPublicUrl(given: string): boolean {
  // a variable such as `{tenant}` may stand anywhere
  const url = given.replaceAll(/\{\w+\}/g, '1');
  if (!URL.canParse(url) || /\s/.test(given) || looksSecret('url', given)) return false;
  const { protocol, hostname, username } = new URL(url);
  return protocol === 'https:' && username === '' && hostname.includes('.') && !PRIVATE.test(hostname);
}

const isRelease = (url: string): boolean =>
  URL.canParse(url) && /^https:\/\/git(?:hub|lab)\.com\/.+\/releases\//.test(url) && /mcp/i.test(url);
