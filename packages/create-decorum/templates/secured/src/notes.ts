import { Context, Describe, McpServer, NoInput, Tool } from '@decorum/core';
import { IsString, MaxLength } from 'class-validator';

class NewNote {
  @Describe('What to remember')
  @IsString()
  @MaxLength(2000)
  text!: string;
}

class Notes {
  private readonly notes = new Map<string, string[]>();

  @Tool({ description: 'Says what this server is for', public: true, annotations: { readOnlyHint: true } })
  about() {
    return 'This server keeps notes. Sign in to use it.';
  }

  @Tool({ description: 'Lists your notes', annotations: { readOnlyHint: true } })
  list(_input: NoInput, ctx: Context) {
    return this.of(ctx).join('\n') || 'You have no notes.';
  }

  @Tool({ description: 'Keeps a note', scopes: ['notes:write'] })
  add({ text }: NewNote, ctx: Context) {
    return `You have ${this.of(ctx).push(text)} notes.`;
  }

  /** The caller's notes. Only the issuer and the subject together identify a user. */
  private of({ principal }: Context): string[] {
    const owner = JSON.stringify([principal?.issuer, principal?.subject]);
    const notes = this.notes.get(owner) ?? [];
    this.notes.set(owner, notes);
    return notes;
  }
}

export const server = new McpServer({ name: '{{name}}', version: '1.0.0', providers: [Notes] });
