import { Context, NoInput, Tool } from '@decorum/core';

/** The tools of the example. They require different scopes. */
export class Files {
  private readonly names = new Set(['notes.txt']);

  @Tool({ description: 'Lists the files', annotations: { readOnlyHint: true } })
  list() {
    return [...this.names].join('\n');
  }

  @Tool({ description: 'Deletes all files', scopes: ['files:write'], annotations: { destructiveHint: true } })
  clear(_input: NoInput, ctx: Context) {
    const count = this.names.size;
    this.names.clear();
    return `${ctx.principal?.subject} deleted ${count} files.`;
  }

  @Tool({ description: 'Tells what this server is for', public: true, annotations: { readOnlyHint: true } })
  about() {
    return 'This server keeps a few files. Sign in to use them.';
  }
}
