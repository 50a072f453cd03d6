import type { FunctionExpression, Pattern, Program } from 'acorn';

import { loadAcorn } from '../metadata/libraries.cjs';
import { Expressions } from './expressions.js';
import { type Frame, Names, NotInterpretable } from './names.js';
import { Returned, Statements } from './statements.js';

type Values = Map<string, unknown>;
type Fill = (frame: Frame, given: unknown) => void;

/** Reserves slots for all variables of a function, because `var` may be used before its declaration. */
function declareAll(node: unknown, names: Names): void {
  if (Array.isArray(node)) return node.forEach((part) => declareAll(part, names));
  if (typeof node !== 'object' || node === null) return;
  const { type, id } = node as { type?: string; id?: { name?: string } };
  if (type === 'VariableDeclarator' && id?.name !== undefined) names.declare(id.name);
  for (const part of Object.values(node)) declareAll(part, names);
}

/** Puts an argument into its variables: a name, a name with a default, or an object of these. */
function filler(pattern: Pattern, names: Names): Fill {
  if (pattern.type === 'Identifier') {
    const slot = names.declare(pattern.name);
    return (frame, given) => void (frame[slot] = given);
  }
  if (pattern.type === 'AssignmentPattern') {
    const inner = filler(pattern.left, names);
    const otherwise = new Expressions(names).compile(pattern.right);
    return (frame, given) => inner(frame, given === undefined ? otherwise(frame) : given);
  }
  if (pattern.type !== 'ObjectPattern') throw new NotInterpretable(`a ${pattern.type}`);
  const fields = pattern.properties.map((property) => {
    if (property.type === 'RestElement' || property.key.type !== 'Identifier')
      throw new NotInterpretable('an unusual parameter');
    return [property.key.name, filler(property.value, names)] as const;
  });
  return (frame, given) => fields.forEach(([key, fill]) => fill(frame, (given as Record<string, unknown>)[key]));
}

/** A function that runs the statements of another one. */
function interpreted({ id, params, body }: FunctionExpression, outer: Values): unknown {
  const made = (...given: unknown[]) => {
    const frame = blank.slice();
    fills.forEach((fill, at) => fill(frame, given[at]));
    const end = execute(frame);
    return end instanceof Returned ? end.value : undefined;
  };
  // it refers to itself, to store the errors that it found
  const names = new Names(id ? new Map([...outer, [id.name, made]]) : outer);
  const fills = params.map((param) => filler(param, names));
  declareAll(body, names);
  const execute = new Statements(names).block(body.body);
  const blank: Frame = Array.from({ length: names.size });
  return made;
}

/** Runs the text of a generated function: it names what it needs, and returns a check. */
function run({ body }: Program, values: Values): unknown {
  for (const node of body) {
    if (node.type === 'ReturnStatement' && node.argument?.type === 'FunctionExpression')
      return interpreted(node.argument, values);
    if (node.type !== 'VariableDeclaration') throw new NotInterpretable(`a ${node.type} outside of a function`);
    for (const { id, init } of node.declarations) {
      if (id.type !== 'Identifier' || !init) throw new NotInterpretable('an unusual constant');
      values.set(id.name, new Expressions(new Names(values)).compile(init)([]));
    }
  }
  throw new NotInterpretable('no function');
}

/** Does what `new Function(...parameters, code)` does, without code generation. It knows the language of ajv's checks. */
export function interpretedFunction(...texts: readonly string[]): (...given: unknown[]) => unknown {
  const parameters = texts.slice(0, -1);
  const program = loadAcorn().parse(texts.at(-1) ?? '', { ecmaVersion: 2022, allowReturnOutsideFunction: true });
  return (...given) => run(program, new Map(parameters.map((name, at) => [name, given[at]])));
}
