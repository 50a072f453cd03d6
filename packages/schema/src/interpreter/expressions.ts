import type { BinaryExpression, CallExpression, Expression, LogicalExpression, MemberExpression } from 'acorn';
import type { AssignmentExpression, ObjectExpression, UnaryExpression, UpdateExpression } from 'acorn';

import { type Frame, type Names, NotInterpretable } from './names.js';

/** Evaluates an expression. */
export type Read = (frame: Frame) => unknown;

type Write = (frame: Frame, value: unknown) => void;
type Holder = Record<PropertyKey, unknown>;
type Callable = (this: unknown, ...given: unknown[]) => unknown;

type Operation = (left: Read, right: Read) => Read;

// the generated code compares and adds whatever the checked value holds
/* oxlint-disable typescript/restrict-plus-operands, eqeqeq */
const BINARY: Readonly<Record<string, Operation>> = {
  '===': (left, right) => (frame) => left(frame) === right(frame),
  '!==': (left, right) => (frame) => left(frame) !== right(frame),
  '==': (left, right) => (frame) => left(frame) == right(frame),
  '!=': (left, right) => (frame) => left(frame) != right(frame),
  '<': (left, right) => (frame) => (left(frame) as number) < (right(frame) as number),
  '<=': (left, right) => (frame) => (left(frame) as number) <= (right(frame) as number),
  '>': (left, right) => (frame) => (left(frame) as number) > (right(frame) as number),
  '>=': (left, right) => (frame) => (left(frame) as number) >= (right(frame) as number),
  '+': (left, right) => (frame) => (left(frame) as number) + (right(frame) as number),
  '-': (left, right) => (frame) => (left(frame) as number) - (right(frame) as number),
  '/': (left, right) => (frame) => (left(frame) as number) / (right(frame) as number),
  '%': (left, right) => (frame) => (left(frame) as number) % (right(frame) as number),
  '&&': (left, right) => (frame) => left(frame) && right(frame),
  '||': (left, right) => (frame) => left(frame) || right(frame),
};
/* oxlint-enable typescript/restrict-plus-operands, eqeqeq */

const UNARY: Readonly<Record<string, (value: Read) => Read>> = {
  '!': (value) => (frame) => !value(frame),
  '-': (value) => (frame) => -(value(frame) as number),
  '+': (value) => (frame) => Number(value(frame)),
  typeof: (value) => (frame) => typeof value(frame),
};

/** Turns expressions into functions. */
export class Expressions {
  constructor(private readonly names: Names) {}

  compile(node: Expression): Read {
    switch (node.type) {
      case 'Literal':
        return this.literal(node.value);
      case 'Identifier':
        return this.name(node.name);
      case 'MemberExpression':
        return this.member(node);
      case 'CallExpression':
        return this.call(node);
      case 'BinaryExpression':
      case 'LogicalExpression':
        return this.binary(node);
      case 'UnaryExpression':
        return this.unary(node);
      case 'AssignmentExpression':
        return this.assignment(node);
      case 'UpdateExpression':
        return this.update(node);
      case 'ObjectExpression':
        return this.object(node);
      default:
        return this.compound(node);
    }
  }

  /** Stores a value in a variable. */
  writer(name: string): Write {
    const slot = this.names.slotOf(name);
    if (slot === undefined) throw new NotInterpretable(`an assignment to "${name}"`);
    return (frame, value) => void (frame[slot] = value);
  }

  private compound(node: Expression): Read {
    if (node.type === 'ArrayExpression') {
      const items = node.elements.map((item) => this.argument(item));
      return (frame) => items.map((item) => item(frame));
    }
    if (node.type === 'SequenceExpression') {
      const parts = node.expressions.map((part) => this.compile(part));
      return (frame) => parts.map((part) => part(frame)).at(-1);
    }
    if (node.type !== 'ConditionalExpression') throw new NotInterpretable(`a ${node.type}`);
    const [test, yes, no] = [node.test, node.consequent, node.alternate].map((part) => this.compile(part)) as [
      Read,
      Read,
      Read,
    ];
    return (frame) => (test(frame) ? yes(frame) : no(frame));
  }

  private literal(value: unknown): Read {
    return () => value;
  }

  private name(name: string): Read {
    const slot = this.names.slotOf(name);
    return slot === undefined ? this.literal(this.names.constant(name)) : (frame) => frame[slot];
  }

  private argument(node: CallExpression['arguments'][number] | null): Read {
    if (node === null || node.type === 'SpreadElement') throw new NotInterpretable('a list with gaps or spreads');
    return this.compile(node);
  }

  /** The object of a member, and its key. */
  private place({ object, property, computed, optional }: MemberExpression): [Read, Read] {
    if (object.type === 'Super' || property.type === 'PrivateIdentifier' || optional)
      throw new NotInterpretable('an unusual member');
    const isNamed = !computed && property.type === 'Identifier';
    return [this.compile(object), isNamed ? this.literal(property.name) : this.compile(property)];
  }

  private member(node: MemberExpression): Read {
    const [object, key] = this.place(node);
    if (!node.computed) {
      const name = key([]) as string;
      return (frame) => (object(frame) as Holder)[name];
    }
    return (frame) => (object(frame) as Holder)[key(frame) as string];
  }

  private call({ callee, arguments: given, optional }: CallExpression): Read {
    if (callee.type === 'Super' || optional) throw new NotInterpretable('an unusual call');
    const values = given.map((value) => this.argument(value));
    if (callee.type === 'MemberExpression') {
      const [object, key] = this.place(callee);
      return (frame) => {
        const holder = object(frame);
        const method = (holder as Holder)[key(frame) as string] as Callable;
        return Reflect.apply(
          method,
          holder,
          values.map((value) => value(frame)),
        );
      };
    }
    const target = this.compile(callee);
    const [first] = values;
    if (first !== undefined && values.length === 1) return (frame) => (target(frame) as Callable)(first(frame));
    return (frame) => (target(frame) as Callable)(...values.map((value) => value(frame)));
  }

  private binary({ left, operator, right }: BinaryExpression | LogicalExpression): Read {
    const combine = BINARY[operator];
    if (combine === undefined || left.type === 'PrivateIdentifier')
      throw new NotInterpretable(`the operator ${operator}`);
    return combine(this.compile(left), this.compile(right));
  }

  private unary({ operator, argument }: UnaryExpression): Read {
    const apply = UNARY[operator];
    if (apply === undefined) throw new NotInterpretable(`the operator ${operator}`);
    return apply(this.compile(argument));
  }

  private target(node: AssignmentExpression['left'] | Expression): Write {
    if (node.type === 'Identifier') return this.writer(node.name);
    if (node.type !== 'MemberExpression') throw new NotInterpretable(`an assignment to a ${node.type}`);
    const [object, key] = this.place(node);
    return (frame, value) => void ((object(frame) as Holder)[key(frame) as string] = value);
  }

  private assignment({ left, operator, right }: AssignmentExpression): Read {
    const write = this.target(left);
    const given = this.compile(right);
    const combine = operator === '=' ? undefined : BINARY[operator.slice(0, -1)];
    if (operator !== '=' && combine === undefined) throw new NotInterpretable(`the operator ${operator}`);
    const value = combine ? combine(this.compile(left as Expression), given) : given;
    return (frame) => {
      const result = value(frame);
      write(frame, result);
      return result;
    };
  }

  private update({ operator, prefix, argument }: UpdateExpression): Read {
    const read = this.compile(argument);
    const write = this.target(argument);
    const step = operator === '++' ? 1 : -1;
    return (frame) => {
      const before = read(frame) as number;
      write(frame, before + step);
      return prefix ? before + step : before;
    };
  }

  private object({ properties }: ObjectExpression): Read {
    const entries = properties.map((property): [string, Read] => {
      if (property.type === 'SpreadElement' || property.computed) throw new NotInterpretable('an unusual property');
      const { key } = property;
      return [
        key.type === 'Identifier' ? key.name : String((key as { value?: unknown }).value),
        this.compile(property.value),
      ];
    });
    return (frame) => Object.fromEntries(entries.map(([key, value]) => [key, value(frame)]));
  }
}
