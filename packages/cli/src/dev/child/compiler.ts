import { compile } from '../../loader/compile.js';

const SOURCE = `
function decorate(...args: unknown[]): any { return args; }
export class Warm { @decorate() field!: string; @decorate() method({ field }: Warm) { return field; } }
`;

/** Warms up the compiler. Must be called in the thread that compiles. */
export function warmCompiler(entry: string): void {
  try {
    compile(entry, SOURCE, 'module');
  } catch {
    // an invalid tsconfig, which will be reported when the program's own files compile
  }
}
