import { describe, expect, it } from '@jest/globals';
import { type JsonObject, Prompt, Resource, Tool } from '@decorum/core';

import { RawClient } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { serverOf } from './servers.js';
import { cpuMs } from '../support/cpu.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

const WELL_FORMED: readonly JsonObject[] = [
  { traceparent: `00-${TRACE}-${SPAN}-01` },
  { traceparent: `01-${TRACE}-${SPAN}-ff` },
  { tracestate: 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE,tenant@system=1' },
  { tracestate: '' },
  { tracestate: 'a=1,,b=2' },
  { tracestate: Array.from({ length: 32 }, (_member, at) => `k${at}=1`).join() },
  { baggage: 'userId=alice,serverNode=DF%2028,isProduction=false' },
  { baggage: 'key1 = value1;property1;property2=x, key2=value2' },
  { 'example.com/traceparent': 'whatever' },
];

const MALFORMED: readonly JsonObject[] = [
  { traceparent: 'nonsense' },
  { traceparent: 1 },
  { traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01` },
  { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` },
  { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` },
  { traceparent: `ff-${TRACE}-${SPAN}-01` },
  { traceparent: `00-${TRACE}-${SPAN}` },
  { traceparent: `00-${TRACE}-${SPAN}-01\n` },
  { tracestate: '=' },
  { tracestate: 'Rojo=1' },
  { tracestate: 'a=1,a=2' },
  { tracestate: 'a=b=c' },
  { tracestate: Array.from({ length: 33 }, (_member, at) => `k${at}=1`).join() },
  { tracestate: ['a=1'] },
  { baggage: '' },
  { baggage: 'no baggage' },
  { baggage: 'key=a b' },
  { baggage: 'key=a,' },
  { baggage: 'key=a\n' },
  { baggage: { key: 'a' } },
];

/** Creates a class with one member of each kind with this `_meta`. */
function provider(_meta: JsonObject) {
  class Provider {
    @Tool({ _meta })
    tool() {}

    @Prompt({ _meta })
    prompt() {
      return '';
    }

    @Resource('docs://one', { _meta })
    resource() {
      return '';
    }
  }
  return Provider;
}

const LISTS = ['tools', 'prompts', 'resources'] as const;

describe('the trace context in `_meta`', () => {
  for (const id of ['META-25', 'TRACE-01']) {
    eachRevision(id, 'is sent as W3C writes it, or not at all', async (revision) => {
      for (const meta of MALFORMED) {
        expect(() => serverOf({ providers: [provider(meta)] })).toThrow(
          expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }),
        );
      }
      for (const meta of WELL_FORMED) {
        const client = await RawClient.connect(serverOf({ providers: [provider(meta)] }), { revision });
        const lists = await Promise.all(LISTS.map((list) => client.result(`${list}/list`)));
        for (const [at, list] of LISTS.entries()) expect(lists[at]?.[list]).toMatchObject([{ _meta: meta }]);
      }
    });
  }

  it('names the place and the key', () => {
    expect(() => serverOf({ providers: [provider({ traceparent: 'nonsense' })] })).toThrow(
      /^Provider\.\w+: `_meta` has a "traceparent" that is not in its W3C format\. Correct or remove it\. \[DECORUM_INVALID_OPTION\]$/,
    );
  });

  it('is parsed in linear time', () => {
    const begun = cpuMs();
    for (const text of ['a=1;', ',', ' ', 'a=b;c=d', 'a@', 'a=; ', 'a\t']) {
      for (const key of ['traceparent', 'tracestate', 'baggage']) {
        const meta = { [key]: `x${text.repeat(100_000)}"` };
        expect(() => serverOf({ providers: [provider(meta)] })).toThrow('W3C');
      }
    }
    expect(cpuMs() - begun).toBeLessThan(2000);
  });
});
