/** The manifest of a bundle (github.com/anthropics/mcpb): what desktop clients show, ask for and start. */
import { join } from 'node:path';

import { type Variable, variablesOf } from '../example-env.js';
import { readJsonObject } from '../json-file.js';
import { isFile } from '../loader/resolve.js';
import { plainName, repositoryOf } from '../publish/project.js';
import { type Manifest, readManifest } from './dependencies.js';
import type { Listed } from './try.js';

/** The newest version that isn't experimental. */
const MANIFEST_VERSION = '0.3';

/** The icon of a project, which a bundle has at the same path. */
export const ICON = 'icon.png';

/**
 * The manifest of a bundle. The fields of the project's own manifest.json take precedence.
 * @param command the file that is started, and its arguments
 * @throws {CommandFailure} if manifest.json isn't JSON
 */
export function manifestOf(project: string, command: readonly string[], listed: Listed): object {
  const [main = '', ...args] = command;
  const described = readManifest(project);
  const { version = '0.0.0', license, keywords } = described;
  const name = plainName(described);
  const { tools, info, hasPrompts } = listed;
  const description = described.description || info.description || `The MCP server ${name}`;
  const asked = variablesOf(project).filter(isAsked);
  const env = Object.fromEntries(asked.map((each) => [each.name, `\${user_config.${keyOf(each)}}`]));
  const own = join(project, 'manifest.json');
  return {
    manifest_version: MANIFEST_VERSION,
    name,
    ...(info.title && { display_name: info.title }),
    version,
    description,
    author: authorOf(described, name),
    ...linksOf(described, info.websiteUrl),
    ...(isFile(join(project, ICON)) && { icon: ICON }),
    ...iconsOf(listed),
    server: {
      type: 'node',
      entry_point: main,
      mcp_config: { command: 'node', args: [`\${__dirname}/${main}`, ...args], env },
    },
    tools: tools.map(({ name: tool, description: text }) => ({ name: tool, ...(text && { description: text }) })),
    // a manifest would have the text of each prompt, which only its handler knows
    ...(hasPrompts && { prompts_generated: true }),
    ...(Array.isArray(keywords) && { keywords: keywords.filter((each) => typeof each === 'string') }),
    ...(typeof license === 'string' && { license }),
    compatibility: compatibilityOf(described),
    ...(asked.length > 0 && { user_config: Object.fromEntries(asked.map((each) => [keyOf(each), inputOf(each)])) }),
    ...(isFile(own) && readJsonObject(own)),
  };
}

/** package.json also allows `Ada <ada@example.com> (https://example.com)`. */
function authorOf({ author }: Manifest, fallback: string): object {
  const given = typeof author === 'string' ? parsedAuthor(author) : (author ?? { name: fallback });
  const { name = fallback, email, url } = given;
  const isReachable = email !== undefined && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(email);
  return { name: name || fallback, ...(isReachable && { email }), ...(isWebsite(url) && { url }) };
}

function parsedAuthor(text: string): { readonly name?: string; readonly email?: string; readonly url?: string } {
  const [, name = '', email, url] = /^([^<(]*)(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?/.exec(text) ?? [];
  return { name: name.trim(), ...(email !== undefined && { email }), ...(url !== undefined && { url }) };
}

function linksOf(described: Manifest, websiteUrl: string | undefined): object {
  const { homepage = websiteUrl, bugs } = described;
  const repository = repositoryOf(described);
  const support = typeof bugs === 'string' ? bugs : bugs?.url;
  return {
    ...(repository && { repository: { type: 'git', url: repository.url } }),
    ...(isWebsite(homepage) && { homepage }),
    ...(isWebsite(support) && { support }),
  };
}

const isWebsite = (url: unknown): boolean =>
  typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url) && new URL(url).username === '';

/** The icons with a size, which a manifest needs. */
function iconsOf({ info: { icons = [] } }: Listed): object {
  const sized = icons.flatMap(({ src, sizes = [], theme }) =>
    sizes
      .filter((size) => /^\d+x\d+$/.test(size) && src.startsWith('https:'))
      .map((size) => ({ src, size, ...(theme && { theme }) })),
  );
  return sized.length > 0 ? { icons: sized } : {};
}

const PLATFORMS = ['darwin', 'win32', 'linux'];

function compatibilityOf({ os = [], engines }: Manifest): object {
  const platforms = PLATFORMS.filter((each) => os.includes(each));
  return {
    ...(platforms.length > 0 && { platforms }),
    runtimes: { node: typeof engines?.node === 'string' ? engines.node : '>=20.19.0' },
  };
}

/** A server that one person starts needs a secret of its own only if it says so. */
const isAsked = ({ name, isRequired }: Variable): boolean => name !== 'DECORUM_SECRET' || isRequired;

const keyOf = ({ name }: Variable): string => name.toLowerCase();

function inputOf({ name, description, isRequired, isSecret, byDefault }: Variable): object {
  const words = name.toLowerCase().replaceAll('_', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  // without a default, clients would pass the placeholder itself
  const fallback = isRequired ? undefined : (byDefault ?? '');
  return {
    type: 'string',
    title,
    description: description ?? title,
    required: isRequired,
    ...(isSecret && { sensitive: true }),
    ...(fallback !== undefined && { default: fallback }),
  };
}
