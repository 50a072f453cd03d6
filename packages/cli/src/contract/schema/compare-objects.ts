import type { Form, Node, ObjectPart } from './form.js';
import { counted, type Comparing, limit, problem, type Problem, unknown } from './problem.js';
import type { Schemas } from './schemas.js';

type Path = readonly string[];

interface Tools {
  readonly schemas: Schemas;
  readonly comparing: Comparing;
}

interface Pair {
  readonly a: Form;
  readonly b: Form;
}

/** Why some objects of `a` don't fit `b`. */
export function compareObjects(tools: Tools, pair: Pair, path: Path): readonly Problem[] {
  const { schemas } = tools;
  const { a, b } = pair;
  const names = new Set([...namesOf(a), ...namesOf(b), ...a.required, ...b.required]);
  const possible = [...names].filter((name) => !schemas.isNever(schemas.property(a, name)));
  // no object fits `a`
  if (a.required.some((name) => !possible.includes(name))) return [];
  const hasOthers = restsOf(a).some((rest) => !schemas.isNever(rest));
  return [
    ...compareNamed(tools, pair, { possible, path }),
    ...(hasOthers ? compareOthers(tools, pair, path) : []),
    ...compareNames(tools, pair, { possible, hasOthers, path }),
    ...compareCounts(pair, { most: hasOthers ? Infinity : possible.length, path }),
    ...compareDependent(pair, { possible, hasOthers, path }),
  ];
}

const namesOf = ({ objects }: Form): readonly string[] => objects.flatMap(({ properties }) => [...properties.keys()]);

function compareNamed(
  { schemas, comparing }: Tools,
  { a, b }: Pair,
  { possible, path }: { readonly possible: readonly string[]; readonly path: Path },
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const name of possible) {
    const node = schemas.property(b, name);
    const inner = [...path, name];
    if (schemas.isNever(node)) problems.push(problem(inner, { code: 'unexpected' }));
    else problems.push(...comparing.fits(schemas.property(a, name), node, inner));
  }
  for (const name of b.required) {
    if (!a.required.includes(name)) problems.push(problem([...path, name], { code: 'required' }));
  }
  return problems;
}

/** What the parts of a form say of properties that have no name in either form. */
function restsOf({ objects }: Form): readonly Node[] {
  const options = objects.map(({ patterns, additional = [] }) => [...patterns.values(), additional]);
  return combinations(options);
}

/** Cap on the combinations of patterns. */
const MAX_COMBINATIONS = 64;

/** One of each list, in all ways. Beyond the cap, what nothing is known of stands for all. */
function combinations(lists: readonly (readonly Node[])[]): readonly Node[] {
  let nodes: readonly Node[] = [[]];
  for (const list of lists) {
    nodes = nodes.flatMap((node) => list.map((each) => [...node, ...each]));
    if (nodes.length > MAX_COMBINATIONS) return [[]];
  }
  return nodes;
}

/** What `a` says of the properties that a pattern of `b` matches, or that none does. */
function optionsFor({ objects }: Form, part: ObjectPart, pattern: string | undefined): readonly Node[] {
  return combinations(
    objects.map(({ patterns, additional = [] }) => {
      const same = pattern === undefined ? undefined : patterns.get(pattern);
      if (same !== undefined) return [same];
      const others = [...patterns].filter(([each]) => pattern !== undefined || !part.patterns.has(each));
      return [...others.map(([, node]) => node), additional];
    }),
  );
}

/** Compares the properties that have no name in either form. */
function compareOthers({ schemas, comparing }: Tools, { a, b }: Pair, path: Path): readonly Problem[] {
  const inner = [...path, '*'];
  return b.objects.flatMap((part) => {
    const targets = [...part.patterns, [undefined, part.additional ?? []] as const];
    return targets.flatMap(([pattern, target]) =>
      optionsFor(a, part, pattern).flatMap((option) => {
        if (target.length === 0 || schemas.isNever(option)) return [];
        if (schemas.isNever(target)) return [problem(inner, { code: 'unexpected' })];
        return comparing.fits(option, target, inner);
      }),
    );
  });
}

interface Known {
  readonly possible: readonly string[];
  /** Whether there may be properties without a name. */
  readonly hasOthers: boolean;
  readonly path: Path;
}

/** Compares what the names of properties have to be. */
function compareNames({ schemas, comparing }: Tools, { a, b }: Pair, known: Known): readonly Problem[] {
  const { possible, hasOthers, path } = known;
  return b.names.flatMap((node) => {
    if (a.names.some((own) => comparing.fits(own, node, []).length === 0)) return [];
    const wrong = possible.filter((name) => schemas.accepts(node, name) !== true);
    const problems = wrong.map((name) => problem([...path, name], { code: 'unexpected' }));
    return hasOthers
      ? [...problems, unknown(path, 'whether all names of properties are allowed is not known')]
      : problems;
  });
}

/** Compares how many properties there may be. */
function compareCounts(
  { a, b }: Pair,
  { most, path }: { readonly most: number; readonly path: Path },
): readonly Problem[] {
  const problems: Problem[] = [];
  if (b.minProperties > Math.max(a.minProperties, a.required.length))
    problems.push(limit(path, `an object with at least ${counted(b.minProperties, 'property', 'properties')}`));
  if (b.maxProperties < Math.min(a.maxProperties, most))
    problems.push(limit(path, `an object with at most ${counted(b.maxProperties, 'property', 'properties')}`));
  return problems;
}

/** Compares which properties need others. */
function compareDependent({ a, b }: Pair, { possible, hasOthers, path }: Known): readonly Problem[] {
  const known = new Set([...possible, ...namesOf(a)]);
  return b.dependent.flatMap(([name, needs]) => {
    const isPossible = possible.includes(name) || (hasOthers && !known.has(name));
    const own = a.dependent.filter(([each]) => each === name).flatMap(([, each]) => each);
    const missing = needs.filter((each) => !a.required.includes(each) && !own.includes(each) && each !== name);
    if (!isPossible) return [];
    return missing.map((each) => limit([...path, each], `there if "${name}" is`));
  });
}
