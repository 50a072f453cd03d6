import { compile } from '../../loader/compile.js';

const SOURCE = `
function decorate(...args: unknown[]): any { return args; }
export class Warm { @decorate() field!: string; @decorate() method({ field }: Warm) { return field; } }
`;

/** Loads the compiler in the thread that compiles, and lets it compile once. */
export function warmCompiler(entry: string): void {
  try {
    compile(entry, SOURCE, 'module');
  } catch {
    // a wrong tsconfig: the program's own files will say so
  }
}
