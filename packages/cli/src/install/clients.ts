/** The clients that `decorum install` knows: where their configuration is, and how they write a server in it. */
import { posix, win32 } from 'node:path';

import type { Format, Value } from './formats/format.js';
import { json } from './formats/json.js';
import { toml } from './formats/toml.js';
import { yaml } from './formats/yaml.js';

/** What the paths of configurations depend on. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** The user's home folder. */
  readonly home: string;
}

/** A program that a client starts. */
export interface Program {
  readonly name: string;
  readonly description: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server that a client connects to. */
export interface Remote {
  readonly name: string;
  readonly description: string;
  readonly url: string;
}

/** A client, and the shape of its entries. */
export interface Client {
  readonly id: string;
  readonly title: string;
  readonly format: Format;
  /** The key of the object that has the servers. */
  readonly section: string;
  /** The path of the user's configuration. */
  user(system: System): string;
  /** The path of a project's configuration, from its folder; undefined if the client has none. */
  readonly project?: string;
  /** The entry of a program. */
  program(server: Program): Value;
  /** The entry of a URL; undefined if the configuration can have none. */
  remote?(server: Remote): Value;
  /** How a configuration names a variable instead of its value. */
  variable?(name: string): string;
  /** The key of a server; its name by default. */
  key?(name: string): string;
}

const pathsOf = ({ platform }: System) => (platform === 'win32' ? win32 : posix);

/** A path below the home folder. */
const home =
  (...path: readonly string[]) =>
  (system: System): string =>
    pathsOf(system).join(system.home, ...path);

/** `%APPDATA%` */
const appData = (system: System, ...path: readonly string[]): string =>
  win32.join(system.env['APPDATA'] || win32.join(system.home, 'AppData', 'Roaming'), ...path);

/** `$XDG_CONFIG_HOME`, which has to be absolute. */
function configHome({ env, home: folder }: System, ...path: readonly string[]): string {
  const given = env['XDG_CONFIG_HOME'] ?? '';
  return posix.join(posix.isAbsolute(given) ? given : posix.join(folder, '.config'), ...path);
}

/** The folder of a desktop program's data. */
function desktop(...path: readonly string[]) {
  return (system: System): string => {
    if (system.platform === 'win32') return appData(system, ...path);
    if (system.platform === 'darwin') return posix.join(system.home, 'Library', 'Application Support', ...path);
    return configHome(system, ...path);
  };
}

/** The folder that a variable names, or another one. */
const folderOf = (variable: string, otherwise: (system: System) => string, ...path: readonly string[]) => {
  return (system: System): string => {
    const given = system.env[variable];
    return pathsOf(system).join(given ? given : otherwise(system), ...path);
  };
};

const command = ({ command: file, args, env }: Program) => ({
  command: file,
  args,
  ...(Object.keys(env).length > 0 && { env }),
});

const MCP_SERVERS = { format: json, section: 'mcpServers' } as const;

/** The clients, by the names that users pass. Each has a comment with its documentation. */
export const CLIENTS: readonly Client[] = [
  {
    // modelcontextprotocol.io/docs/develop/connect-local-servers
    id: 'claude-desktop',
    title: 'Claude Desktop',
    ...MCP_SERVERS,
    user: desktop('Claude', 'claude_desktop_config.json'),
    program: command,
  },
  {
    // code.claude.com/docs/en/mcp
    id: 'claude-code',
    title: 'Claude Code',
    ...MCP_SERVERS,
    user: folderOf('CLAUDE_CONFIG_DIR', home(), '.claude.json'),
    project: '.mcp.json',
    program: (server) => ({ type: 'stdio', ...command(server) }),
    remote: ({ url }) => ({ type: 'http', url }),
    variable: (name) => `\${${name}}`,
  },
  {
    // cursor.com/docs/context/mcp
    id: 'cursor',
    title: 'Cursor',
    ...MCP_SERVERS,
    user: home('.cursor', 'mcp.json'),
    project: '.cursor/mcp.json',
    program: (server) => ({ type: 'stdio', ...command(server) }),
    remote: ({ url }) => ({ url }),
    variable: (name) => `\${env:${name}}`,
  },
  {
    // code.visualstudio.com/docs/copilot/reference/mcp-configuration
    id: 'vscode',
    title: 'VS Code',
    format: json,
    section: 'servers',
    user: desktop('Code', 'User', 'mcp.json'),
    project: '.vscode/mcp.json',
    program: (server) => ({ type: 'stdio', ...command(server) }),
    remote: ({ url }) => ({ type: 'http', url }),
    variable: (name) => `\${env:${name}}`,
  },
  {
    // docs.windsurf.com/windsurf/cascade/mcp
    id: 'windsurf',
    title: 'Windsurf',
    ...MCP_SERVERS,
    user: home('.codeium', 'windsurf', 'mcp_config.json'),
    program: command,
    remote: ({ url }) => ({ serverUrl: url }),
  },
  {
    // developers.openai.com/codex/mcp, github.com/openai/codex: codex-rs/config/src/mcp_types.rs
    id: 'codex',
    title: 'Codex',
    format: toml,
    section: 'mcp_servers',
    user: folderOf('CODEX_HOME', home('.codex'), 'config.toml'),
    // only in projects that the user trusts
    project: '.codex/config.toml',
    program: command,
    remote: ({ url }) => ({ url }),
  },
  {
    // github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md; `url` is for SSE
    id: 'gemini-cli',
    title: 'Gemini CLI',
    ...MCP_SERVERS,
    user: folderOf('GEMINI_CLI_HOME', home(), '.gemini', 'settings.json'),
    project: '.gemini/settings.json',
    program: command,
    remote: ({ url }) => ({ httpUrl: url }),
    variable: (name) => `$${name}`,
  },
  {
    // zed.dev/docs/ai/mcp, github.com/zed-industries/zed: crates/settings_content/src/project.rs
    id: 'zed',
    title: 'Zed',
    format: json,
    section: 'context_servers',
    user: zedSettings,
    project: '.zed/settings.json',
    program: command,
    remote: ({ url }) => ({ url }),
  },
  {
    // github.com/block/goose/blob/main/documentation/docs/guides/config-files.md,
    // github.com/block/goose: crates/goose/src/agents/extension.rs, crates/goose/src/config/extensions.rs
    id: 'goose',
    title: 'goose',
    format: yaml,
    section: 'extensions',
    user: gooseConfig,
    program: ({ name, description, command: cmd, args, env }) => ({
      enabled: true,
      type: 'stdio',
      name,
      description,
      cmd,
      args,
      envs: env,
      timeout: GOOSE_TIMEOUT,
    }),
    remote: ({ name, description, url }) => ({
      enabled: true,
      type: 'streamable_http',
      name,
      description,
      uri: url,
      timeout: GOOSE_TIMEOUT,
    }),
    // goose finds an extension by its name in lower case
    key: (name) => name.toLowerCase(),
  },
];

/** In seconds; what goose itself writes. */
const GOOSE_TIMEOUT = 300;

/** On macOS, Zed has its settings in `~/.config`, too. */
function zedSettings(system: System): string {
  if (system.platform === 'win32') return appData(system, 'Zed', 'settings.json');
  if (system.platform === 'darwin') return posix.join(system.home, '.config', 'zed', 'settings.json');
  const { FLATPAK_XDG_CONFIG_HOME: flatpak } = system.env;
  return flatpak ? posix.join(flatpak, 'zed', 'settings.json') : configHome(system, 'zed', 'settings.json');
}

/** goose follows the XDG variables on macOS, too. */
function gooseConfig(system: System): string {
  const { GOOSE_PATH_ROOT: root = '' } = system.env;
  if (pathsOf(system).isAbsolute(root)) return pathsOf(system).join(root, 'config', 'config.yaml');
  if (system.platform === 'win32') return appData(system, 'Block', 'goose', 'config', 'config.yaml');
  return configHome(system, 'goose', 'config.yaml');
}
