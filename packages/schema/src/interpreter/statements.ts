import type { ForOfStatement, ForInStatement, ForStatement, Statement, VariableDeclaration } from 'acorn';

import { Expressions, type Read } from './expressions.js';
import { type Frame, type Names, NotInterpretable } from './names.js';

/** How a statement ends: normally, at the next statement; otherwise by leaving a loop or the function. */
type End = undefined | typeof BREAK | Returned;

const BREAK = Symbol('break');

/** Leaves the function with a value. */
export class Returned {
  constructor(readonly value: unknown) {}
}

/** Runs a statement. */
export type Run = (frame: Frame) => End;

/** The statements of a block. If an `if` is the last of them, it is the fork. */
interface Link {
  readonly runs: readonly Run[];
  readonly fork?: Fork;
}

interface Fork {
  readonly test: Read;
  readonly yes: Link;
  readonly no?: Link;
}

const bodyOf = (node: Statement): readonly Statement[] => (node.type === 'BlockStatement' ? node.body : [node]);

/** Turns statements into functions. */
export class Statements {
  private readonly expressions: Expressions;

  constructor(names: Names) {
    this.expressions = new Expressions(names);
  }

  /** Runs statements one after another. */
  block(nodes: readonly Statement[]): Run {
    const first = this.chained(nodes);
    return (frame) => {
      // a check of many fields is nested as deep, so the stack would overflow if each `if` ran the next one
      for (let link: Link | undefined = first; link !== undefined;) {
        for (const run of link.runs) {
          const end = run(frame);
          if (end !== undefined) return end;
        }
        const { fork }: Link = link;
        link = fork === undefined ? undefined : fork.test(frame) ? fork.yes : fork.no;
      }
      return undefined;
    };
  }

  private chained(nodes: readonly Statement[]): Link {
    const last = nodes.at(-1);
    if (last?.type !== 'IfStatement') return { runs: nodes.map((node) => this.compile(node)) };
    const runs = nodes.slice(0, -1).map((node) => this.compile(node));
    const { test, consequent, alternate } = last;
    const fork: Fork = { test: this.expressions.compile(test), yes: this.chained(bodyOf(consequent)) };
    return { runs, fork: alternate ? { ...fork, no: this.chained(bodyOf(alternate)) } : fork };
  }

  private compile(node: Statement): Run {
    switch (node.type) {
      case 'BlockStatement':
        return this.block(node.body);
      case 'ExpressionStatement':
        return this.effect(this.expressions.compile(node.expression));
      case 'VariableDeclaration':
        return this.declaration(node);
      case 'IfStatement':
        return this.block([node]);
      case 'ReturnStatement': {
        const value = node.argument ? this.expressions.compile(node.argument) : () => undefined;
        return (frame) => new Returned(value(frame));
      }
      default:
        return this.loop(node);
    }
  }

  private loop(node: Statement): Run {
    if (node.type === 'EmptyStatement') return () => undefined;
    if (node.type === 'BreakStatement' && !node.label) return () => BREAK;
    if (node.type === 'ForStatement') return this.counted(node);
    if (node.type !== 'ForOfStatement' && node.type !== 'ForInStatement') throw new NotInterpretable(`a ${node.type}`);
    return this.iterated(node);
  }

  private effect(expression: Read): Run {
    return (frame) => {
      expression(frame);
      return undefined;
    };
  }

  private declaration({ kind, declarations }: VariableDeclaration): Run {
    const runs = declarations.flatMap(({ id, init }) => {
      const write = this.variable(id);
      // `var` without a value keeps the one that the variable has
      if (!init) return kind === 'var' ? [] : [(frame: Frame) => write(frame, undefined)];
      const value = this.expressions.compile(init);
      return [(frame: Frame) => write(frame, value(frame))];
    });
    return (frame) => {
      for (const run of runs) run(frame);
      return undefined;
    };
  }

  private variable(id: VariableDeclaration['declarations'][number]['id']) {
    if (id.type !== 'Identifier') throw new NotInterpretable(`a ${id.type}`);
    return this.expressions.writer(id.name);
  }

  private counted({ init, test, update, body }: ForStatement): Run {
    if (init?.type !== 'VariableDeclaration' || !test || !update) throw new NotInterpretable('an unusual loop');
    const begin = this.declaration(init);
    const goesOn = this.expressions.compile(test);
    const step = this.expressions.compile(update);
    const run = this.compile(body);
    return (frame) => {
      for (begin(frame); goesOn(frame); step(frame)) {
        const end = run(frame);
        if (end === BREAK) return undefined;
        if (end !== undefined) return end;
      }
      return undefined;
    };
  }

  private iterated({ type, left, right, body }: ForOfStatement | ForInStatement): Run {
    const [declarator] = left.type === 'VariableDeclaration' ? left.declarations : [];
    if (declarator === undefined) throw new NotInterpretable('an unusual loop');
    const write = this.variable(declarator.id);
    const source = this.expressions.compile(right);
    const run = this.compile(body);
    const itemsOf = type === 'ForOfStatement' ? (value: unknown) => value as Iterable<unknown> : keysOf;
    return (frame) => {
      for (const item of itemsOf(source(frame))) {
        write(frame, item);
        const end = run(frame);
        if (end === BREAK) return undefined;
        if (end !== undefined) return end;
      }
      return undefined;
    };
  }
}

/** The keys that `for … in` visits. */
function keysOf(value: unknown): string[] {
  const keys: string[] = [];
  // oxlint-disable-next-line guard-for-in -- inherited keys count in the generated code too
  for (const key in value as object) keys.push(key);
  return keys;
}
