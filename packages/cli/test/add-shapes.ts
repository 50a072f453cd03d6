/** A file with a class to add members to. */
export interface Shape {
  /** What is special about the class. */
  readonly about: string;
  readonly file: string;
  readonly text: string;
  /** The line of the class, if the file has several. */
  readonly line?: number;
  /** Whether the class body is on one line, which has to be split. */
  readonly isOneLine?: boolean;
}

const plain = `import { Tool } from '@decorum/core';
import { IsString } from 'class-validator';

class Place {
  @IsString() city!: string;
}

/** Knows the weather. */
export class Plain {
  @Tool({ description: 'Tells the weather' })
  weather({ city }: Place) {
    return city;
  }
}
`;

/** Shapes for `experimentalDecorators`. Each has different names, because all of them are in one project. */
export const LEGACY: readonly Shape[] = [
  { about: 'a plain provider', file: 'plain.ts', text: plain },
  {
    about: 'a mixin',
    file: 'mixin.ts',
    text: `type Constructor = abstract new (...args: any[]) => object;

export function Timed<T extends Constructor>(Base: T) {
  abstract class TimedBase extends Base {
    now() {
      return new Date();
    }
  }
  return TimedBase;
}
`,
  },
  {
    about: 'a mixin for servers',
    file: 'server-mixin.ts',
    isOneLine: true,
    text: `import { McpServer } from '@decorum/core';

type Server = new (...args: any[]) => McpServer;

export function Served<T extends Server>(Base: T) {
  class ServedServer extends Base {}
  return ServedServer;
}
`,
  },
  {
    about: 'a subclass of McpServer',
    file: 'office.ts',
    text: `import { McpServer } from '@decorum/core'

export class Office extends McpServer {
  constructor(private readonly rooms: string[]) {
    super({ name: 'office', version: '1.0.0' })
  }

  free() {
    return this.rooms
  }
}
`,
  },
  {
    about: 'a subclass of McpServer without a constructor',
    file: 'desk.ts',
    text: `import { McpServer as Server } from '@decorum/core';

export class Desk extends Server {
}
`,
  },
  {
    about: 'no line break at the end, and no export',
    file: 'no-newline.ts',
    text: `class NoNewline {
  count = 0
}`,
  },
  {
    about: 'imports on several lines, and other names',
    file: 'merged.ts',
    text: `import {
  type Context,
  Tool as Serve,
} from '@decorum/core';
import {
  IsInt,
  MaxLength
} from 'class-validator';

class Count {
  @IsInt() count!: number;
  @MaxLength(3) unit!: string;
}

export class Merged {
  @Serve({ description: 'Counts' })
  count({ count }: Count, _ctx: Pick<Context, 'signal'>) {
    return count;
  }
}
`,
  },
  {
    about: 'namespaces',
    file: 'spaces.ts',
    text: `import * as decorum from '@decorum/core';
import * as validator from 'class-validator';

class Name {
  @validator.IsString() name!: string;
}

export class Spaces {
  @decorum.Tool()
  hello({ name }: Name) {
    return name;
  }
}
`,
  },
  {
    about: 'type-only imports, and names that mean something else',
    file: 'types.ts',
    text: `import type { Context, Resource } from '@decorum/core';

type Tool = 'hammer';
const IsString = (value: unknown): value is string => typeof value === 'string';

export class Types {
  last: { tool: Tool; signal: Context['signal']; resource: typeof Resource } | undefined;
  isText = IsString;
}
`,
  },
  {
    about: 'several classes',
    file: 'several.ts',
    line: 9,
    text: `import { Tool } from '@decorum/core';

export class Mail {
  @Tool() send() {
    return 'sent';
  }
}

export class Post {
  @Tool() deliver() {
    return 'delivered';
  }
}
`,
  },
  { about: 'an empty class on one line', file: 'empty.ts', text: 'export class Empty {}\n', isOneLine: true },
  {
    about: 'a body on one line',
    file: 'one-line.ts',
    text: "import { Tool } from '@decorum/core'; export class OneLine { @Tool() hi() { return 'hi'; } }",
    isOneLine: true,
  },
  {
    about: 'a default export without a name',
    file: 'default.ts',
    text: `export default class {
  private readonly secret = 42;

  reveal() {
    return this.secret;
  }
}
`,
  },
  {
    about: 'a decorator before a default export',
    file: 'decorated.ts',
    text: `const Injectable = () => (_cls: new (api: string) => object) => {};

// what it needs is injected
@Injectable()
export default class Decorated {
  constructor(readonly api: string) {
    if (api.length > 10) throw new Error('Too long');
  }
}
`,
  },
  {
    about: 'hooks that use what the constructor gets',
    file: 'hooked.ts',
    text: `import type { Lifecycle } from '@decorum/core';

export class Hooked implements Lifecycle {
  constructor(private readonly log: string[]) {}

  onStart() {
    this.log.push('start');
  }

  async onClose() {
    this.log.push('close');
  }
}
`,
  },
  {
    about: 'a decorator after an export',
    file: 'after.ts',
    text: `import { Prompt } from '@decorum/core';

const Injectable = () => (_cls: object) => {};

export @Injectable() class After {
  @Prompt()
  hello() {
    return 'hello';
  }

}
`,
  },
  {
    about: 'comments at the end of the body',
    file: 'comments.ts',
    text: `#!/usr/bin/env node
/* Licence: MIT */

/** Has a comment. */
export class Comments {
  first = '}'; // not the end

  // more to come
  /* } */
} // the end
`,
  },
  { about: '.mts', file: 'module.mts', text: plain.replaceAll('Plain', 'Module') },
  {
    about: 'a factory in the same file, and no export of the class',
    file: 'factory.ts',
    text: `import { McpServer, Tool } from '@decorum/core';

class Greeter {
  @Tool() greet() {
    return 'hello';
  }
}

export const createGreeter = () => new McpServer({ name: 'greeter', version: '1.0.0', providers: [Greeter] });
`,
  },
  {
    about: 'zod',
    file: 'zod.ts',
    text: `import { Tool } from '@decorum/core';
import { z } from 'zod';

const Place = z.object({ city: z.string() });

export class Zod {
  @Tool({ input: Place })
  weather({ city }: { city: string }) {
    return city;
  }
}
`,
  },
  {
    about: 'a factory in the same file, which gives the class what it needs',
    file: 'given.ts',
    text: `import * as decorum from '@decorum/core';

export class Given {
  readonly first: string;

  constructor(names: readonly string[]) {
    this.first = names.join();
  }

  async onStart() {
    if (this.first !== 'Ada') throw new Error('This is not the instance of the server.');
  }
}

export async function create(_port: number, name = 'given') {
  return new decorum.McpServer({ name, version: '1.0.0', providers: [new Given(['Ada'])] });
}
`,
  },
  {
    about: 'a subclass of McpServer that takes its options',
    file: 'optional.ts',
    text: `import { McpServer, type McpServerOptions } from '@decorum/core';

class Shared extends McpServer {
  constructor(options: McpServerOptions, readonly names: string[]) {
    super({ ...options, text: false });
  }
}

export default class Optional extends Shared {
  hello() {
    return this.names;
  }
}
`,
    line: 9,
  },
  {
    about: 'a mixin as default export, and a name that is not its own',
    file: 'default-mixin.ts',
    text: `import { Hidden } from '@decorum/core';

type Constructor = new (...args: any[]) => { close(): void };

export default function <T extends Constructor>(Base: T, title: string) {
  return within(Base, title);
}

export { within as mixedIn };
function within<T extends Constructor>(Outer: T, title: string) {
  class Inner extends Outer {
    label = title;
    hidden = Hidden;
  }
  return Inner;
}
`,
  },
  {
    about: 'a base class of another file, and abstract',
    file: 'derived.ts',
    text: `import { Decorated } from './decorated-again.js';

export abstract class Derived extends Decorated {
  abstract missing(): void;
}
`,
  },
  {
    about: 'imports of files only',
    file: 'decorated-again.ts',
    text: `import Other from './decorated.js';

export class Decorated extends Other {}
export type { Other };
`.replace('{}', '{\n}'),
  },
];

/** Shapes for standard decorators. */
export const STANDARD: readonly Shape[] = [
  {
    about: 'a plain provider',
    file: 'plain.ts',
    text: `import { Schema, Tool } from '@decorum/core';

class Place {
  @Schema({ type: 'string' }) city!: string;
}

export class Plain {
  @Tool({ input: Place })
  weather({ city }: Place) {
    return city;
  }
}
`,
  },
  {
    about: 'a mixin that returns a class expression',
    file: 'mixin.ts',
    text: `type Constructor = new (...args: any[]) => object;

export const Timed = <T extends Constructor>(Base: T) =>
  class extends Base {
    now() {
      return new Date();
    }
  };
`,
  },
  {
    about: 'a class expression',
    file: 'expression.ts',
    text: `export const Expression = class {
  value = 1;
};
`,
  },
];
