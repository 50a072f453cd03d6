// A plugin that uses every key, and records everything that it sees.
import { AsyncLocalStorage } from 'node:async_hooks';

import { type Call, type McpServer, Tool } from '@decorum/core';
import {
  definePlugin,
  type ObservedQuestion,
  type ObservedRequest,
  type RequestOutcome,
  type QuestionOutcome,
  type SessionInfo,
} from '@decorum/core/plugin';

/** Holds the current request. The plugin sets it around each request. */
export const around = new AsyncLocalStorage<ObservedRequest>();

/** A request and its outcome. */
export interface Seen {
  readonly request: ObservedRequest;
  outcome?: RequestOutcome;
}

/** The records of a witness. */
export class Notes {
  readonly seen: Seen[] = [];
  readonly questions: { readonly question: ObservedQuestion; outcome?: QuestionOutcome; readonly inside: unknown }[] =
    [];
  readonly sessions: { readonly info: SessionInfo; ended: number }[] = [];
  readonly intercepted: { readonly call: string; readonly inside: unknown }[] = [];
  readonly hooks: unknown[] = [];

  /** `method target status` of each request and its outcome, in the order in which the requests began. */
  get lines(): string[] {
    return this.seen.map(({ request: { method, target }, outcome }) =>
      [method, target, outcome?.status, outcome?.code].filter((part) => part !== undefined).join(' '),
    );
  }

  /** The record of the first request of a method. */
  of(method: string): Seen | undefined {
    return this.seen.find(({ request }) => request.method === method);
  }
}

class Extra {
  @Tool({ description: 'Comes with the plugin' })
  extra() {
    return `extra inside ${around.getStore()?.method}`;
  }
}

/** Creates the plugin. */
export const witness = definePlugin((notes: Notes) => ({
  name: 'witness',
  needs: ['companion'],
  providers: [Extra],
  interceptors: [
    async (call: Call, next) => {
      notes.intercepted.push({ call: call.name, inside: around.getStore()?.target });
      return await next();
    },
  ],
  extensions: [{ id: 'com.example/echo', methods: { 'echo/say': (params) => ({ said: params['text'] }) } }],
  async observe(request, run) {
    const seen: Seen = { request };
    notes.seen.push(seen);
    return await around.run(request, async () => (seen.outcome = await run()));
  },
  async ask(question, run) {
    const entry: Notes['questions'][number] = { question, inside: around.getStore()?.id };
    notes.questions.push(entry);
    question.meta['traceparent'] = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    return (entry.outcome = await run());
  },
  session(info) {
    const entry = { info, ended: 0 };
    notes.sessions.push(entry);
    return () => {
      entry.ended += 1;
    };
  },
  routes: [{ method: 'GET', path: '/witness', handle: () => ({ status: 200, body: `${notes.seen.length} requests` }) }],
  onStart(server: McpServer) {
    notes.hooks.push(['start', server.info.name]);
  },
  onClose() {
    notes.hooks.push('close');
  },
}));

/** The plugin that the witness needs. */
export const companion = definePlugin(() => ({ name: 'companion' }));
