import type { McpServer } from '@decorum/core';

import type { Program } from '../carriers/program.js';
import type { ConnectTarget } from '../target.js';

/** Words that announce a secret in an argument of a program. */
const SECRET = /key|token|secret|passw|auth|credential/i;

/**
 * How errors and logs call a proxy: `proxy(https://mcp.example.com/mcp)` or `proxy(npx -y server-git)`. Credentials are
 * left out, as far as they look like some.
 */
export function proxyName(target: ConnectTarget): string {
  if (typeof target === 'string' || target instanceof URL) return `proxy(${urlWithoutSecrets(String(target))})`;
  if (isProgram(target)) return `proxy(${[target.command, ...argumentsWithoutSecrets(target.args ?? [])].join(' ')})`;
  return `proxy(${(target as Partial<McpServer>)?.info?.name ?? 'a server'})`;
}

/** Whether the target is a program to start. */
export const isProgram = (target: ConnectTarget): target is Program =>
  typeof target === 'object' && target !== null && 'command' in target;

function urlWithoutSecrets(text: string): string {
  if (!URL.canParse(text)) return 'invalid URL';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}

function argumentsWithoutSecrets(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const text = String(arg);
    const before = String(args[index - 1] ?? '');
    if (before.startsWith('-') && !before.includes('=') && SECRET.test(before)) return '…';
    const [name = ''] = text.split('=', 1);
    if (text.includes('=') && SECRET.test(name)) return `${name}=…`;
    return text.replace(/\/\/[^/@]*@/, '//');
  });
}
