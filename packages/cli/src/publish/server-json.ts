/** Makes `server.json`, which the MCP registry takes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Implementation } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure } from 'create-decorum';

import { shown } from '../entry.js';
import { isFile } from '../loader/resolve.js';
import { type Variable, variablesOf } from '../example-env.js';
import { plainName, type Project, repositoryOf } from './project.js';
import { descriptionOf, type Places, type Written } from './rules.js';

/** The newest schema of the registry. */
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

type Json = Readonly<Record<string, unknown>>;

/** What `server.json` is made from. */
export interface Sources extends Written {
  readonly project: Project;
}

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []) as Json[];

/** The places of an existing `server.json`, where no others are given. */
export function placesOf({ existing }: Project, given: Partial<Places>): Places {
  const bundle = listOf(existing?.['packages']).find((each) => each['registryType'] === 'mcpb');
  const remote = listOf(existing?.['remotes']).find((each) => each['type'] === 'streamable-http');
  return {
    url: given.url ?? (remote?.['url'] as string | undefined),
    mcpb: given.mcpb ?? (bundle?.['identifier'] as string | undefined),
  };
}

/**
 * The content of `server.json`. Packages of other registries, headers of remotes and `_meta` are kept.
 * @throws {CommandFailure} if the bundle isn't built
 */
export function serverJson(sources: Sources): Json {
  const { project, info, described } = sources;
  const { existing = {} } = project;
  const repository = repositoryOf(described);
  const known = existing['repository'] as Json | undefined;
  const icons = iconsOf(info);
  const websiteUrl = info.websiteUrl ?? described.homepage;
  const packages = packagesOf(sources);
  const remotes = remotesOf(sources);
  return {
    $schema: SCHEMA,
    name: described.mcpName,
    ...(info.title !== undefined && { title: info.title }),
    description: descriptionOf(sources),
    ...(repository && { repository: { ...repository, ...(known?.['id'] !== undefined && { id: known['id'] }) } }),
    version: described.version,
    ...(isWebsite(websiteUrl) && { websiteUrl }),
    ...(icons.length > 0 && { icons }),
    ...(packages.length > 0 && { packages }),
    ...(remotes.length > 0 && { remotes }),
    ...(existing['_meta'] !== undefined && { _meta: existing['_meta'] }),
  };
}

/** Whether the registry takes a URL as that of a website. Others are left out. */
const isWebsite = (url: unknown): boolean =>
  typeof url === 'string' && url.startsWith('https:') && URL.canParse(url) && new URL(url).username === '';

const ICON_TYPES = /^image\/(?:png|jpe?g|svg\+xml|webp)$/;

/** The icons that the registry takes: it has no room for `data:` URLs. */
const iconsOf = ({ icons = [] }: Implementation) =>
  icons.filter(
    ({ src, mimeType = 'image/png' }) => src.startsWith('https:') && src.length <= 255 && ICON_TYPES.test(mimeType),
  );

const OWN = new Set<unknown>(['npm', 'mcpb']);

function packagesOf(sources: Sources): readonly Json[] {
  const { project, described, mcpb, stdio } = sources;
  const { existing, folder } = project;
  const transport = { type: 'stdio' };
  const variables = variablesOf(folder).map(inputOf);
  const packages: Json[] = [];
  if (described.private !== true) {
    packages.push({
      registryType: 'npm',
      registryBaseUrl: 'https://registry.npmjs.org',
      identifier: described.name,
      version: described.version,
      runtimeHint: 'npx',
      transport,
      ...(stdio === 'with --stdio' && { packageArguments: [{ type: 'positional', value: '--stdio' }] }),
      ...(variables.length > 0 && { environmentVariables: variables }),
    });
  }
  if (mcpb !== undefined) {
    packages.push({ registryType: 'mcpb', identifier: mcpb, fileSha256: digestOf(project), transport });
  }
  return [...packages, ...listOf(existing?.['packages']).filter((each) => !OWN.has(each['registryType']))];
}

/** A variable without its value if it is a secret. */
const inputOf = ({ name, description, isRequired, isSecret, byDefault }: Variable): Json => ({
  name,
  ...(description !== undefined && { description }),
  ...(isRequired && { isRequired }),
  ...(isSecret && { isSecret }),
  ...(byDefault !== undefined && { default: byDefault }),
});

function remotesOf({ url, project }: Sources): readonly Json[] {
  const remotes = listOf(project.existing?.['remotes']);
  if (url === undefined || remotes.some((each) => each['url'] === url)) return remotes;
  // another URL of the same server
  const before = remotes.find((each) => each['type'] === 'streamable-http');
  return [{ ...before, type: 'streamable-http', url }, ...remotes.filter((each) => each !== before)];
}

/** The SHA-256 of the bundle, which clients compare with what they have downloaded. */
function digestOf({ folder, described }: Project): string {
  const file = join(folder, `${plainName(described)}.mcpb`);
  if (isFile(file)) return createHash('sha256').update(readFileSync(file)).digest('hex');
  throw new CommandFailure(
    `server.json has the SHA-256 of ${shown(file)}, which is missing. Run \`decorum build --mcpb\`.`,
  );
}
