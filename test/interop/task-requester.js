// Runs tasks of a server with the requester of ext-tasks, and prints what it sees as JSON. It takes a URL, a mode, and the
// header of its user. A program of its own, because it accepts only JSON of its own realm, and jest runs tests in others.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createApplicationInputHandler, createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';

const [, , url = '', mode, user = ''] = process.argv;
const INFO = { name: 'interop', version: '1.0.0' };
const STATELESS = '2026-07-28';
const isModern = mode === 'modern';
const capabilities = {
  elicitation: { form: {} },
  ...(isModern && { extensions: { 'io.modelcontextprotocol/tasks': {} } }),
};

let sent = 0;

/** Sends what the SDK rejects: requests about tasks of 2026-07-28. */
async function dispatch(/** @type {any} */ request) {
  const { method, params } = request;
  const name = params.taskId ?? params.name;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': STATELESS,
      'mcp-method': method,
      'mcp-name': name,
      'x-user': user,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: (sent += 1), method, params }),
  });
  const { result, error } = /** @type {any} */ (await response.json());
  return error ? { kind: 'error', error } : { kind: 'result', result };
}

const client = new Client(INFO, {
  capabilities,
  versionNegotiation: { mode: isModern ? { pin: STATELESS } : 'legacy' },
});
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { 'x-user': user } } }));
const session = createTaskSessionFromClient(client, {
  endpointId: 'reports',
  onInputRequest: createApplicationInputHandler({
    elicitation: () => ({ action: 'accept', content: { name: 'Ada' } }),
    sampling: () => Promise.reject(new Error('Nobody asks for a sample.')),
    roots: () => ({ roots: [] }),
  }),
  .../** @type {any} */ (
    isModern && {
      rawDispatch: dispatch,
      v2RequestFraming: { protocolVersion: STATELESS, clientInfo: INFO, clientCapabilities: capabilities },
    }
  ),
});

/** @type {Record<string, any>} */
const seen = {};
for (const name of ['add', 'fail', 'break', 'waits', ...(isModern ? ['greet'] : [])]) {
  const execution = await session.callTool(name, {}, isModern ? {} : { task: { preference: 'require' } });
  /** @type {string[]} */
  const states = [];
  if (name === 'waits') await execution.cancel();
  const { outcome } = await execution.settle({
    onEvent: (event) => void states.push(event.type === 'task' ? event.task.status : event.outcome.status),
  });
  const { status, result, error } = /** @type {any} */ (outcome);
  seen[name] = {
    kind: execution.kind,
    taskId: execution.handle?.taskId,
    states,
    status,
    result,
    error: error?.message,
  };
}
process.stdout.write(JSON.stringify(seen));
await session.close();
await client.close();
