/**
 * Finds the mutants of a source file for `npm run mutants`, and writes the source with each mutant behind a switch,
 * `__mutant('<id>')`, so that one loaded module serves all mutants.
 *
 * Mutants that others imply are left out. For example, a condition becomes `true` and `false`, so negating it adds
 * nothing.
 */
import ts from 'typescript';

/**
 * @typedef {object} Mutant
 * @property {string} id `<file>#<number>`
 * @property {string} key names the mutant without line numbers: `<function>: <code> → <mutated code>`
 * @property {number} line
 */
/** @typedef {{ node: ts.Node, to: string, statement?: boolean }} Change */

const { SyntaxKind: K } = ts;

/** Comparisons, which become `true` and `false`. */
const COMPARISONS = new Set([
  K.EqualsEqualsEqualsToken,
  K.ExclamationEqualsEqualsToken,
  K.LessThanToken,
  K.LessThanEqualsToken,
  K.GreaterThanToken,
  K.GreaterThanEqualsToken,
  K.InKeyword,
  K.InstanceOfKeyword,
]);

/** @type {ReadonlyMap<ts.SyntaxKind, string>} */
const OPERATORS = new Map([
  [K.LessThanToken, '<='],
  [K.LessThanEqualsToken, '<'],
  [K.GreaterThanToken, '>='],
  [K.GreaterThanEqualsToken, '>'],
  [K.PlusToken, '-'],
  [K.MinusToken, '+'],
  [K.AsteriskToken, '/'],
  [K.SlashToken, '*'],
  [K.PlusEqualsToken, '-='],
  [K.MinusEqualsToken, '+='],
  [K.QuestionQuestionEqualsToken, '='],
]);

/** Methods whose call is dropped: `name.trim()` becomes `name`. */
const DROPPED = new Set(['catch', 'filter', 'slice', 'sort', 'reverse', 'toLowerCase', 'toUpperCase', 'trim']);

/** @type {ReadonlyMap<string, string>} */
const SWAPPED = new Map([
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
]);

/** @param {ts.Node} node @returns {node is ts.BinaryExpression} */
function isLogical(node) {
  if (!ts.isBinaryExpression(node)) return false;
  return node.operatorToken.kind === K.AmpersandAmpersandToken || node.operatorToken.kind === K.BarBarToken;
}
/** @type {(node: ts.Node) => boolean} */
const isComparison = (node) => ts.isBinaryExpression(node) && COMPARISONS.has(node.operatorToken.kind);
/** @type {(node: ts.Node) => boolean} */
const isNegation = (node) => ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken;
/** @type {(node: ts.Node) => boolean} */
const isBoolean = (node) => isLogical(node) || isComparison(node) || isNegation(node);

/** The nearest parent that is not a pair of parentheses.
 * @param {ts.Node} node
 * @returns {ts.Node} */
const parentOf = (node) => (ts.isParenthesizedExpression(node.parent) ? parentOf(node.parent) : node.parent);

/** Whether an expression decides a branch.
 * @param {ts.Node} node */
function isCondition(node) {
  const { parent } = node;
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent)) return parent.expression === node;
  return (ts.isConditionalExpression(parent) || ts.isForStatement(parent)) && parent.condition === node;
}

/** @param {ts.Node} node */
function* booleans(node) {
  const parent = parentOf(node);
  // a negation has the mutants of its operand
  if (ts.isParenthesizedExpression(node) || isNegation(parent)) return;
  if (isLogical(parent)) {
    const operator = parent.operatorToken.kind;
    if (isLogical(node) && node.operatorToken.kind === operator) return;
    yield operator === K.BarBarToken ? 'false' : 'true';
    return;
  }
  if (!isBoolean(node) && !isCondition(node)) return;
  const operator = isLogical(node) ? node.operatorToken.kind : undefined;
  // the mutants of its operands imply `true` or `false`; and a loop that never ends proves nothing
  if (operator !== K.AmpersandAmpersandToken && !ts.isWhileStatement(parent)) yield 'true';
  if (operator !== K.BarBarToken) yield 'false';
}

/** @param {ts.BinaryExpression} node */
function* binary({ left, right, operatorToken }) {
  const { kind } = operatorToken;
  if (kind === K.QuestionQuestionToken) yield* [left.getText(), right.getText()];
  const other = OPERATORS.get(kind);
  const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
  if (other !== undefined && !isText) yield `${left.getText()} ${other} ${right.getText()}`;
}

/** @param {string} text the text of a regular expression */
function* patterns(text) {
  const end = text.lastIndexOf('/');
  const [source, flags] = [text.slice(1, end), text.slice(end + 1)];
  if (flags !== '') yield `/${source}/`;
  // escapes and classes are skipped as a whole
  for (const { 0: token, index } of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\(\?[:=!]|[\^$*+?]/g)) {
    if (token.length > 1) continue;
    yield `/${source.slice(0, index)}${source.slice(index + 1)}/${flags}`;
  }
}

/** @param {ts.Node} node */
function* literals(node) {
  const { parent } = node;
  const isName =
    ('name' in parent && parent.name === node) || ('propertyName' in parent && parent.propertyName === node);
  if (isName) return;
  // changing `=== 'a'` to `=== ''` is nearly the same as `false`
  if (isComparison(parent) && !ts.isNumericLiteral(node)) return;
  // `-1` becomes `1`, which is enough
  if (ts.isPrefixUnaryExpression(parent)) return;
  if (ts.isStringLiteralLike(node)) yield node.text === '' ? "'mutant'" : "''";
  else if (ts.isTemplateExpression(node)) yield "''";
  else if (ts.isNumericLiteral(node)) yield String(Number(node.text.replaceAll('_', '')) + 1);
  else if (node.kind === K.TrueKeyword) yield 'false';
  else if (node.kind === K.FalseKeyword) yield 'true';
  else if (ts.isRegularExpressionLiteral(node)) yield* patterns(node.text);
  else if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) yield '[]';
  else if (ts.isObjectLiteralExpression(node) && node.properties.length > 0) yield '{}';
}

/** @param {ts.Node} node */
function* calls(node) {
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    const text = node.getText();
    if (node.operator === K.PlusPlusToken) yield text.replace('++', '--');
    if (node.operator === K.MinusMinusToken) yield text.replace('--', '++');
    if (node.operator === K.MinusToken) yield node.operand.getText();
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
  const { expression, name } = node.expression;
  if (DROPPED.has(name.text)) yield expression.getText();
  const other = SWAPPED.get(name.text);
  if (other !== undefined) yield `${expression.getText()}.${other}${node.getText().slice(node.expression.getWidth())}`;
}

/** The variants of a whole optional chain, each without one of its question marks.
 * @param {ts.Node} node */
function* chains(node) {
  if (!ts.isOptionalChain(node) || (ts.isOptionalChain(node.parent) && node.parent.expression === node)) return;
  /** @type {ts.Node} */
  let part = node;
  const text = node.getText();
  for (; ts.isOptionalChain(part); part = part.expression) {
    if (ts.isNonNullChain(part) || part.questionDotToken === undefined) continue;
    const at = part.questionDotToken.getStart() - node.getStart();
    yield text.slice(0, at) + (ts.isPropertyAccessExpression(part) ? '.' : '') + text.slice(at + 2);
  }
}

/** Whether removing a statement is the same as making the condition around it false.
 * @param {ts.Node} node */
function isWholeBranch(node) {
  const alone = ts.isBlock(node.parent) && node.parent.statements.length === 1;
  const branch = alone ? node.parent : node;
  return ts.isIfStatement(branch.parent) && !branch.parent.elseStatement;
}

/** @param {ts.Node} node */
const hasNoReturnMutant = (node) => isBoolean(node) || /^(?:null|undefined|true|false)$/.test(node.getText());

/** @param {ts.Node} node @returns {Iterable<Change>} */
function* changes(node) {
  const isPlain = ts.isExpressionStatement(node) || ts.isThrowStatement(node);
  const isJump = ts.isBreakOrContinueStatement(node) || (ts.isReturnStatement(node) && !node.expression);
  if (isPlain || isJump) {
    if (!isWholeBranch(node) && !node.getText().startsWith('super(')) yield { node, to: '(removed)', statement: true };
    return;
  }
  if (!ts.isExpression(node)) return;
  const returned =
    (ts.isReturnStatement(node.parent) || (ts.isArrowFunction(node.parent) && node.parent.body === node)) &&
    !hasNoReturnMutant(node);
  const all = [...booleans(node), ...literals(node), ...calls(node), ...chains(node)];
  if (ts.isBinaryExpression(node)) all.push(...binary(node));
  if (returned) all.push('undefined');
  for (const to of new Set(all)) yield { node, to };
}

/** The function, member or variable around a node.
 * @param {ts.Node} node
 * @returns {string} */
function placeOf(node) {
  for (let at = node.parent; at && !ts.isSourceFile(at); at = at.parent) {
    const named = ts.isFunctionLike(at) || ts.isPropertyDeclaration(at) || ts.isVariableDeclaration(at);
    const outer = ts.isVariableDeclaration(at) && !ts.isSourceFile(at.parent.parent.parent);
    if (!named || outer) continue;
    if (ts.isConstructorDeclaration(at)) return 'constructor';
    const { name } = /** @type {ts.NamedDeclaration} */ (at);
    if (name) return name.getText();
  }
  return 'module';
}

/** @param {string} text */
function shorten(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= 90 ? line : `${line.slice(0, 60)} … ${line.slice(-28)}`;
}

/**
 * Finds all mutants of a file.
 * @param {string} file
 * @param {string} text
 */
function find(file, text) {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  /** @type {(Change & Mutant)[]} */
  const found = [];
  const keys = new Map();
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    for (const change of changes(node)) {
      const key = `${placeOf(node)}: ${shorten(node.getText())} → ${shorten(change.to)}`;
      const count = (keys.get(key) ?? 0) + 1;
      keys.set(key, count);
      const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      const unique = count === 1 ? key : `${key} (${count})`;
      found.push({ ...change, id: `${file}#${found.length}`, key: unique, line });
    }
    node.forEachChild(visit);
  };
  visit(tree);
  return { tree, found };
}

/**
 * The mutants of a source file, in order.
 * @param {string} file
 * @param {string} text
 * @returns {Mutant[]}
 */
export function mutantsOf(file, text) {
  return find(file, text).found.map(({ id, key, line }) => ({ id, key, line }));
}

/**
 * The source with every mutant behind its switch.
 * @param {string} file
 * @param {string} text
 */
export function instrument(file, text) {
  const { tree, found } = find(file, text);
  /** @type {Map<ts.Node, (Change & Mutant)[]>} */
  const byNode = new Map();
  for (const mutant of found) byNode.set(mutant.node, [...(byNode.get(mutant.node) ?? []), mutant]);
  /** @type {(node: ts.Node) => string} */
  const write = (node) => {
    let inner = '';
    let at = node.getStart();
    const children = ts.isTypeNode(node) ? [] : [...node.getChildren()].filter((child) => child.getWidth() > 0);
    for (const child of children) {
      if (child.kind === K.JSDoc) continue;
      inner += text.slice(at, child.getStart()) + write(child);
      at = child.end;
    }
    inner += text.slice(at, node.end);
    const mutants = byNode.get(node) ?? [];
    if (mutants[0]?.statement) return `{if(!__mutant('${mutants[0].id}')){${inner}}}`;
    if (mutants.length === 0) return inner;
    return `(${mutants.map(({ id, to }) => `__mutant('${id}')?(${to}):`).join('')}(${inner}))`;
  };
  return write(tree);
}
