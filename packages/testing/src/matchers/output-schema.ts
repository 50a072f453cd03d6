import type { JsonObject } from '@decorum/core';
import { inspectRaw, newestOf } from '@decorum/core/internal';

import { overMemory } from '@decorum/client/internal';
import { Connection } from '../connection.js';
import { type Origin, originOf } from '../origin.js';
import { contentOf, showResult, structuredOf } from './content.js';
import { failure, type Judge, type MatcherContext, verdict, type Verdict } from './matcher.js';
import { indented, show } from './show.js';

/** The output schema of the tool that was called, as the client sees it; undefined if it declares none. */
async function declaredBy(connection: Connection, name: unknown): Promise<JsonObject | undefined> {
  const tools = await connection.list('tools/list', 'tools');
  return tools.find((tool) => tool['name'] === name)?.['outputSchema'] as JsonObject | undefined;
}

/** The output schema of the tool. If the client can't see one, asks a server in this process in the newest revision. */
async function schemaFor({ connection, params }: Origin): Promise<JsonObject | undefined> {
  const { name } = params;
  const { server, principal, ...identity } = connection.identity;
  const own = connection.isOpen ? await declaredBy(connection, name) : undefined;
  if (own !== undefined || server === undefined) return own;
  const newest = newestOf('stateless');
  const other = await Connection.open(
    { ...identity, era: newest.era, revision: newest.id },
    overMemory(server, principal),
  );
  try {
    return await declaredBy(other, name);
  } finally {
    await other.close();
  }
}

function judgeSchema(context: MatcherContext, result: unknown, schema: JsonObject): Verdict {
  const value = structuredOf(result);
  if (value === undefined) return failure(context, `The result has no structured content. ${showResult(result)}`);
  const { fits, explain } = inspectRaw(schema, 'toMatchOutputSchema');
  const wrong = fits(value)
    ? []
    : explain(value).map(({ path, expected }) => (path === '' ? expected : `${path}: ${expected}`));
  return verdict(wrong.length === 0, {
    otherwise: `The structured content does not match the output schema:\n\n${indented(wrong)}\n\n${showResult(result)}`,
    negated: `The structured content matches the output schema, but should not. ${showResult(result)}`,
  });
}

/** Whether the structured content of a result matches the output schema of its tool. */
export const matchesOutputSchema: Judge<[schema?: object]> = async (context, result, [given]) => {
  contentOf(result);
  if ((result as JsonObject)['isError'] === true) return failure(context, `The call failed. ${showResult(result)}`);
  if (given !== undefined) return judgeSchema(context, result, given as JsonObject);
  const origin = originOf(result);
  if (origin === undefined) {
    return failure(context, 'The result does not come from `client.callTool`. Pass the schema to toMatchOutputSchema.');
  }
  const schema = await schemaFor(origin);
  if (schema !== undefined) return judgeSchema(context, result, schema);
  const { revision } = origin.connection;
  return failure(
    context,
    `The tool ${show(origin.params['name'])} declares no output schema that a client of ${revision} sees. Add \`output\` ` +
      'to the tool, or pass the schema to toMatchOutputSchema.',
  );
};
