import { createHash, timingSafeEqual } from 'node:crypto';

import type { User, UserDirectory } from '@decorum/auth-server';

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Users who share a password. People choose weak passwords, which need a slow hash: use `usersFile` for them. */
export class DemoUsers implements UserDirectory {
  private readonly users = new Map<string, User>([
    ['alice', { subject: 'alice' }],
    ['bob', { subject: 'bob', scopes: ['mcp'] }],
  ]);

  constructor(private readonly password: string) {}

  async verify(name: string, password: string) {
    return timingSafeEqual(digestOf(password), digestOf(this.password)) ? this.users.get(name) : undefined;
  }

  async find(subject: string) {
    return this.users.get(subject);
  }
}
