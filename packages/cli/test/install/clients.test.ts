import { describe, expect, it } from '@jest/globals';

import { CLIENTS, type System } from '../../src/install/clients.js';
import { looksSecret } from '../../src/install/secrets.js';

const LINUX: System = { platform: 'linux', env: {}, home: '/home/ada' };
const MAC: System = { platform: 'darwin', env: {}, home: '/Users/ada' };
const WINDOWS: System = {
  platform: 'win32',
  env: { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
  home: 'C:\\Users\\ada',
};

const pathsOn = (system: System) => Object.fromEntries(CLIENTS.map(({ id, user }) => [id, user(system)]));

const PROGRAM = {
  name: 'Weather',
  description: 'Tells the weather',
  command: '/usr/bin/node',
  args: ['/app/main.js'],
  env: { A: 'b' },
};
const REMOTE = { name: 'Weather', description: 'Tells the weather', url: 'https://example.com/mcp' };

describe('the configuration of a client', () => {
  it('is where the client looks on Linux', () => {
    expect(pathsOn(LINUX)).toEqual({
      'claude-desktop': '/home/ada/.config/Claude/claude_desktop_config.json',
      'claude-code': '/home/ada/.claude.json',
      cursor: '/home/ada/.cursor/mcp.json',
      vscode: '/home/ada/.config/Code/User/mcp.json',
      windsurf: '/home/ada/.codeium/windsurf/mcp_config.json',
      codex: '/home/ada/.codex/config.toml',
      'gemini-cli': '/home/ada/.gemini/settings.json',
      zed: '/home/ada/.config/zed/settings.json',
      goose: '/home/ada/.config/goose/config.yaml',
    });
  });

  it('is where the client looks on macOS', () => {
    expect(pathsOn(MAC)).toEqual({
      'claude-desktop': '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
      'claude-code': '/Users/ada/.claude.json',
      cursor: '/Users/ada/.cursor/mcp.json',
      vscode: '/Users/ada/Library/Application Support/Code/User/mcp.json',
      windsurf: '/Users/ada/.codeium/windsurf/mcp_config.json',
      codex: '/Users/ada/.codex/config.toml',
      'gemini-cli': '/Users/ada/.gemini/settings.json',
      zed: '/Users/ada/.config/zed/settings.json',
      goose: '/Users/ada/.config/goose/config.yaml',
    });
  });

  it('is where the client looks on Windows', () => {
    expect(pathsOn(WINDOWS)).toEqual({
      'claude-desktop': 'C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
      'claude-code': 'C:\\Users\\ada\\.claude.json',
      cursor: 'C:\\Users\\ada\\.cursor\\mcp.json',
      vscode: 'C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json',
      windsurf: 'C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json',
      codex: 'C:\\Users\\ada\\.codex\\config.toml',
      'gemini-cli': 'C:\\Users\\ada\\.gemini\\settings.json',
      zed: 'C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json',
      goose: 'C:\\Users\\ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml',
    });
    expect(pathsOn({ ...WINDOWS, env: {} })).toEqual(pathsOn(WINDOWS));
  });

  it('follows the variables that the client follows', () => {
    const env = {
      XDG_CONFIG_HOME: '/xdg',
      CLAUDE_CONFIG_DIR: '/claude',
      CODEX_HOME: '/codex',
      GEMINI_CLI_HOME: '/gemini',
      FLATPAK_XDG_CONFIG_HOME: '/flatpak',
      GOOSE_PATH_ROOT: '/goose',
    };
    expect(pathsOn({ ...LINUX, env })).toEqual({
      'claude-desktop': '/xdg/Claude/claude_desktop_config.json',
      'claude-code': '/claude/.claude.json',
      cursor: '/home/ada/.cursor/mcp.json',
      vscode: '/xdg/Code/User/mcp.json',
      windsurf: '/home/ada/.codeium/windsurf/mcp_config.json',
      codex: '/codex/config.toml',
      'gemini-cli': '/gemini/.gemini/settings.json',
      zed: '/flatpak/zed/settings.json',
      goose: '/goose/config/config.yaml',
    });
    // the standard says to ignore relative paths
    expect(pathsOn({ ...LINUX, env: { XDG_CONFIG_HOME: 'xdg', GOOSE_PATH_ROOT: 'goose' } })).toEqual(pathsOn(LINUX));
  });

  it('is in the folder that the client looks for in a project', () => {
    expect(Object.fromEntries(CLIENTS.map(({ id, project }) => [id, project]))).toEqual({
      'claude-desktop': undefined,
      'claude-code': '.mcp.json',
      cursor: '.cursor/mcp.json',
      vscode: '.vscode/mcp.json',
      windsurf: undefined,
      codex: '.codex/config.toml',
      'gemini-cli': '.gemini/settings.json',
      zed: '.zed/settings.json',
      goose: undefined,
    });
  });
});

describe('an entry', () => {
  it('has the shape that the client reads for a program', () => {
    const { command, args, env } = PROGRAM;
    const shapes = CLIENTS.map(({ id, section, program }) => [id, { [section]: program(PROGRAM) }]);
    expect(Object.fromEntries(shapes)).toEqual({
      'claude-desktop': { mcpServers: { command, args, env } },
      'claude-code': { mcpServers: { type: 'stdio', command, args, env } },
      cursor: { mcpServers: { type: 'stdio', command, args, env } },
      vscode: { servers: { type: 'stdio', command, args, env } },
      windsurf: { mcpServers: { command, args, env } },
      codex: { mcp_servers: { command, args, env } },
      'gemini-cli': { mcpServers: { command, args, env } },
      zed: { context_servers: { command, args, env } },
      goose: {
        extensions: {
          enabled: true,
          type: 'stdio',
          name: 'Weather',
          description: 'Tells the weather',
          cmd: command,
          args,
          envs: env,
          timeout: 300,
        },
      },
    });
  });

  it('has the shape that the client reads for a URL', () => {
    const { url } = REMOTE;
    expect(Object.fromEntries(CLIENTS.map(({ id, remote }) => [id, remote?.(REMOTE)]))).toEqual({
      'claude-desktop': undefined,
      'claude-code': { type: 'http', url },
      cursor: { url },
      vscode: { type: 'http', url },
      windsurf: { serverUrl: url },
      codex: { url },
      'gemini-cli': { httpUrl: url },
      zed: { url },
      goose: {
        enabled: true,
        type: 'streamable_http',
        name: 'Weather',
        description: 'Tells the weather',
        uri: url,
        timeout: 300,
      },
    });
  });
});

describe('a value', () => {
  it.each([
    ['GITHUB_TOKEN', 'x'],
    ['API_KEY', 'x'],
    ['OPENAI_APIKEY', 'x'],
    ['apiKey', 'x'],
    ['DB_PASSWORD', 'x'],
    ['STRIPE', 'sk_live_4eC39HqLyjW'],
    ['ANY', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
    ['ANY', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'],
    ['ANY', 'f3Zk29sLq81nXv02RtyB47Pa'],
    ['DATABASE_URL', 'postgres://ada:hunter2@localhost/db'],
    ['ENDPOINT', 'https://example.com/mcp?api_key=1234'],
    ['ENDPOINT', 'https://example.com/s/f3Zk29sLq81nXv02RtyB47Pa/mcp'],
    ['PGPASSWORD', 'x'],
    ['SSH_PASSPHRASE', 'x'],
    ['accessToken', 'x'],
    ['STORAGE', 'AccountName=ada;AccountKey=c2VjcmV0;'],
    ['DATABASE', 'host=localhost password=hunter2'],
    ['HEADER', 'Bearer 0123456789abcdef'],
  ])('looks like a secret: %s=%s', (name, value) => {
    expect(looksSecret(name, value)).toBe(true);
  });

  it.each([
    ['LOG_LEVEL', 'debug'],
    ['KEYBOARD', 'us'],
    ['MONKEY', 'see'],
    ['AUTHOR', 'Ada'],
    ['API_KEY', ''],
    ['API_KEY', '${API_KEY}'],
    ['API_KEY', '${input:api-key}'],
    ['API_KEY', '$API_KEY'],
    ['DATA_FOLDER', '/home/ada/projects/weather/data-2025-11-25'],
    ['DATABASE_URL', 'postgres://localhost/db'],
    ['MODEL', 'claude-sonnet-4-5-20250929'],
    ['MAX_TOKENS', '4096'],
    ['AUTH', 'none'],
    ['DB_PASSWORD_FILE', '/run/secrets/password'],
    ['TOKEN', './token.txt'],
    ['AUTH_URL', 'https://example.com/authorize'],
    ['PLAN', 'Basic plan'],
  ])('looks like no secret: %s=%s', (name, value) => {
    expect(looksSecret(name, value)).toBe(false);
  });
});
