/** Configurations as clients and people write them, by client and by what is special about them. */

/** A configuration. */
export interface Sample {
  readonly client: string;
  /** What is special about it. */
  readonly title: string;
  readonly text: string;
}

const MARK = '\uFEFF';

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
const tabs = (text: string): string => text.replaceAll('  ', '\t');
const open = (text: string): string => text.replace(/\n$/, '');

const DESKTOP = `{
  "globalShortcut": "Alt+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop"]
    },
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] }
  },
  "scale": 1
}
`;

const CLAUDE_CODE = `{
  "numStartups": 184,
  "installMethod": "native",
  "tipsHistory": {
    "new-user-warmup": 4,
    "shift-enter": 171
  },
  "projects": {
    "/home/ada/weather": {
      "allowedTools": [],
      "mcpServers": {
        "weather": { "type": "stdio", "command": "node", "args": ["dist/main.js"] }
      },
      "hasTrustDialogAccepted": true
    }
  },
  "userID": "3f0e",
  "oauthAccount": { "emailAddress": "ada@example.com" }
}
`;

const VSCODE = `// MCP servers of this profile
{
  "inputs": [
    {
      "type": "promptString",
      "id": "github-token", // asked once
      "password": true,
    },
  ],
  "servers": {
    /* the browser */
    "playwright": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@playwright/mcp@latest"],
    },
    // hosted
    "github": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/", // with a slash
      "headers": { "Authorization": "Bearer \${input:github-token}" },
    }, // the last one
  },
}
`;

const ZED = `// Zed settings
//
// For information on how to configure Zed, see the documentation
{
  "ui_font_size": 16,
  "theme": {
    "mode": "system",
    "light": "One Light",
    "dark": "One Dark",
  },
  "context_servers": {
    "some-server": {
      "command": "some-command",
      "args": ["a", "b"],
      "env": {},
    },
  },
  "languages": {
    "Python": { "tab_size": 4 }, // as PEP 8 says
  },
}
`;

const CODEX = `# Codex
model = "gpt-5-codex"
approval_policy = "on-request"   # ask me

[profiles.fast]
model = "gpt-5-mini"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]

[mcp_servers.context7.env]
LOG_LEVEL = "debug"

[projects."/home/ada/weather"]
trust_level = "trusted"
`;

const CODEX_ARRAYS = `notify = [
  "notify-send",   # with a comment
  "Codex",
]

[tui]
notifications = true

[mcp_servers."with.dots"]
url = "https://example.com/mcp"
bearer_token_env_var = 'EXAMPLE_TOKEN'

[mcp_servers.'it''s'.tools.search]
approval_mode = "approve"

[[hooks.Stop]]
command = """
printf 'done\\n'
"""
started = 2025-11-25T08:00:00Z
`.replace("'it''s'", '"it\'s"');

const GOOSE = `GOOSE_PROVIDER: anthropic
GOOSE_MODEL: claude-sonnet-4-5
extensions:
  developer:
    bundled: true
    display_name: Developer
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  fetch:
    enabled: true
    type: stdio
    name: fetch
    cmd: uvx
    args:
    - mcp-server-fetch
    envs: {}
    timeout: 300
`;

const GOOSE_COMMENTS = `# goose
GOOSE_MODE: smart_approve # asks

extensions:
    # the tools of the shell
    developer:
        enabled: true
        type: builtin
        name: developer
        description: |+
          Edits files.

    # end of the extensions
prompts:
  greet: >-
    Hello,
    you
`;

const sample = (client: string, title: string, text: string): Sample => ({ client, title, text });

const JSON_SAMPLES = [
  sample('claude-desktop', 'servers in the middle', DESKTOP),
  sample('claude-desktop', 'CRLF', crlf(DESKTOP)),
  sample('claude-desktop', 'a byte order mark', MARK + DESKTOP),
  sample('claude-desktop', 'a byte order mark and CRLF', MARK + crlf(DESKTOP)),
  sample('claude-desktop', 'no final line break', open(DESKTOP)),
  sample('claude-desktop', 'an empty file', ''),
  sample('claude-desktop', 'only a byte order mark', MARK),
  sample('claude-desktop', 'only white space', ' \n\n'),
  sample('claude-desktop', 'an empty object', '{}'),
  sample('claude-desktop', 'an empty object with a line break', '{}\n'),
  sample('claude-desktop', 'an empty object on two lines', '{\n}\n'),
  sample('claude-desktop', 'an empty section', '{\n  "mcpServers": {}\n}\n'),
  sample('claude-desktop', 'an empty section on two lines', '{\n  "mcpServers": {\n  }\n}\n'),
  sample('claude-desktop', 'an empty section among other keys', '{ "mcpServers": {}, "scale": 1 }\n'),
  sample(
    'claude-desktop',
    'names of prototypes',
    '{\n  "__proto__": { "a": 1 },\n  "mcpServers": {\n    "__proto__": {},\n    "constructor": {}\n  }\n}\n',
  ),
  sample(
    'claude-desktop',
    'names with dots, spaces and quotes',
    '{\n  "mcpServers": {\n    "a.b": {},\n    "c d": {},\n    "e\\"f\\n": {}\n  }\n}\n',
  ),
  sample('claude-code', 'servers only in projects', CLAUDE_CODE),
  sample('claude-code', 'four spaces', CLAUDE_CODE.replaceAll('  ', '    ')),
  sample('claude-code', 'minified', JSON.stringify(JSON.parse(CLAUDE_CODE))),
  sample('claude-code', 'minified with servers', JSON.stringify(JSON.parse(DESKTOP))),
  sample('claude-code', 'one line', '{ "mcpServers": { "a": { "command": "a" } } }'),
  sample('claude-code', 'one line with a trailing comma', '{ "mcpServers": { "a": { "command": "a" }, }, }\n'),
  sample('claude-code', 'large numbers', '{\n  "id": 12345678901234567890,\n  "rate": 1.0e3,\n  "mcpServers": {}\n}\n'),
  sample('cursor', 'tabs', tabs(DESKTOP)),
  sample('cursor', 'tabs and CRLF', crlf(tabs(DESKTOP))),
  sample('cursor', 'braces in the lines of keys', '{ "mcpServers": {\n    "a": { "command": "a" } } }\n'),
  sample('cursor', 'commas in front', '{\n  "mcpServers": {\n    "a": {}\n  , "b": {}\n  }\n}\n'),
  sample('vscode', 'comments and trailing commas', VSCODE),
  sample('vscode', 'comments, trailing commas and CRLF', crlf(VSCODE)),
  sample('vscode', 'comments, trailing commas and tabs', tabs(VSCODE)),
  sample('vscode', 'only comments', '// nothing yet\n/* really */\n'),
  sample('vscode', 'a comment in an empty section', '{\n  "servers": {\n    // none yet\n  }\n}\n'),
  sample(
    'vscode',
    'a comment behind the last server',
    '{\n  "servers": {\n    "a": {} // the last\n    // and more\n  }\n}\n',
  ),
  sample('vscode', 'a comment in the line of an empty section', '{ "servers": { /* none */ } }\n'),
  sample('vscode', 'blank lines', '\n\n{\n\n  "inputs": [],\n\n\n  "servers": {\n\n    "a": {}\n\n  }\n\n}\n\n\n'),
  sample('windsurf', 'trailing spaces', '{  \n  "mcpServers": {   \n    "a": {}   \n  }  \n}  \n'),
  sample(
    'gemini-cli',
    'settings without servers',
    '{\n  "general": { "vimMode": true },\n  "security": { "auth": { "selectedType": "oauth-personal" } }\n}\n',
  ),
  sample(
    'gemini-cli',
    'settings and emoji',
    '{\n  "ui": { "theme": "GitHub 🌊" },\n  "mcpServers": {\n    "später": { "command": "ä" }\n  }\n}',
  ),
  sample('zed', 'settings', ZED),
  sample('zed', 'settings without servers', ZED.replace(/ {2}"context_servers[^]*?\n {2}\},\n/, '')),
  sample('zed', 'settings with CRLF', crlf(ZED)),
];

const TOML_SAMPLES = [
  sample('codex', 'tables', CODEX),
  sample('codex', 'tables and CRLF', crlf(CODEX)),
  sample('codex', 'tables and no final line break', open(CODEX)),
  sample('codex', 'a byte order mark', MARK + CODEX),
  sample('codex', 'arrays of tables, quoted names and dates', CODEX_ARRAYS),
  sample(
    'codex',
    'indented tables',
    CODEX.replaceAll(/^(?=\[mcp_servers\.context7\.env)/gm, '\t').replaceAll('LOG', '\tLOG'),
  ),
  sample('codex', 'an inline table', 'mcp_servers = { a = { command = "a" } } # all\nmodel = "o3"\n'),
  sample('codex', 'an empty inline table', 'mcp_servers = {}\nmodel = "o3"\n'),
  sample('codex', 'dotted keys', 'mcp_servers.a.command = "a"\nmcp_servers.a.args = []\nmodel = "o3"\n'),
  sample('codex', 'a section with inline tables', '[mcp_servers]\na = { command = "a" }\n\n[tui]\nx = 1\n'),
  sample('codex', 'an empty section', 'model = "o3"\n\n[mcp_servers]\n'),
  sample('codex', 'an empty file', ''),
  sample('codex', 'only a comment', '# nothing'),
  sample('codex', 'blank lines at the end', 'model = "o3"\n\n\n\n'),
  sample('codex', 'no tables', 'model = "o3"'),
  sample('codex', 'a name of a prototype', '[__proto__]\na = 1\n\n[mcp_servers.__proto__]\ncommand = "a"\n'),
];

const YAML_SAMPLES = [
  sample('goose', 'extensions', GOOSE),
  sample('goose', 'extensions and CRLF', crlf(GOOSE)),
  sample('goose', 'extensions and no final line break', open(GOOSE)),
  sample('goose', 'a byte order mark', MARK + GOOSE),
  sample('goose', 'comments, four spaces and block scalars', GOOSE_COMMENTS),
  sample('goose', 'comments and CRLF', crlf(GOOSE_COMMENTS)),
  sample('goose', 'no extensions', 'GOOSE_MODEL: a\n'),
  sample('goose', 'no extensions and no final line break', 'GOOSE_MODEL: a'),
  sample('goose', 'a start of a document', '---\nGOOSE_MODEL: a\n'),
  sample('goose', 'empty extensions', 'extensions: {} # none\nGOOSE_MODEL: a\n'),
  sample('goose', 'extensions without a value', 'extensions:\nGOOSE_MODEL: a\n'),
  sample('goose', 'extensions that are null', 'a: 1\nextensions: null\n'),
  sample('goose', 'extensions in braces', 'extensions: { a: { enabled: true, type: builtin, name: a } }\n'),
  sample('goose', 'everything in braces', '{ a: 1 }\n'),
  sample('goose', 'only a comment', '# nothing\n'),
  sample('goose', 'an empty file', ''),
];

export const SAMPLES: readonly Sample[] = [...JSON_SAMPLES, ...TOML_SAMPLES, ...YAML_SAMPLES];
