import type { Answer, Question } from './arena.js';
import type { Case, EntrantSpec, Line, SliceCase } from './cases.js';
import { Child } from './child.js';
import { measureCold } from './cold.js';
import { type Entrant, InProcessEntrant, type Measured, type Sample, type Samples } from './entrant.js';
import { HttpEntrant } from './http-entrant.js';
import { measureInterpreted } from './interpreted.js';
import { LinesEntrant, type Pipes } from './lines-entrant.js';
import { ListenEntrant } from './listen-entrant.js';
import { measureSessions } from './session-heap.js';
import { firstQuartile, interleave, type Slices } from './slices.js';

/** A measured process with an arena. */
export class ArenaProcess implements ArenaWithPipes {
  private readonly child: Child;

  constructor(pipes: number) {
    // flags such as --cpu-prof apply to both processes
    this.child = new Child({ file: 'arena-process.js', flags: ['--expose-gc', ...process.execArgv], pipes });
  }

  async ask(question: Question): Promise<Answer> {
    const answer = await this.child.ask<Answer>(question);
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  pipe(index: number): Pipes {
    const pipe = this.child.pipe(index);
    return { input: pipe, output: pipe };
  }

  stop(): Promise<void> {
    return this.child.stop();
  }
}

/** Measures a case once, in a fresh process. */
export async function runCase(one: Case, connections: number): Promise<Samples> {
  if (one.kind === 'cold') return await measureCold();
  if (one.kind === 'interpreted') return await measureInterpreted();
  const arena = new ArenaProcess(one.kind === 'slices' && one.load === 'lines' ? one.entrants.length : 0);
  try {
    if (one.kind === 'sessions') return await measureSessions(arena);
    const entrants = await openEntrants(one, arena, connections);
    return samplesOf(one, await interleave(entrants, one.warmUp));
  } finally {
    await arena.stop();
  }
}

/** The parts that serve MCP over HTTP, besides those with `auth`. */
const SERVERS = ['listen', 'few tools', 'fastify', 'node', 'observe', 'telemetry', 'metrics', 'maxResultChars'];

/** A measured process with pipes. */
export interface ArenaWithPipes extends Measured {
  /** This process's ends of the pipes of entrant `index`. */
  pipe(index: number): Pipes;
}

/** Opens the parts of a case. Entrants share parts, except those that read lines: each of these has its own pipe. */
export async function openEntrants(
  one: SliceCase,
  arena: ArenaWithPipes,
  connections: number,
): Promise<Map<string, Entrant>> {
  const names = one.entrants.map(({ part }) => part);
  const parts = one.load === 'lines' ? names : [...new Set(names)];
  const { urls = {}, tokens = {} } = await arena.ask({ kind: 'open', parts, moreTools: one.moreTools });
  const open = (spec: EntrantSpec, index: number): Entrant => {
    const { part, style } = spec;
    const url = urls[part] ?? '';
    const bare = !SERVERS.includes(part) && !part.startsWith('auth');
    if (one.load === 'in process') return new InProcessEntrant(arena, part, style);
    if (one.load === 'listen') return new ListenEntrant(arena, { part, url, bare, streams: one.maxConnections });
    if (one.load === 'lines') {
      return new LinesEntrant(arena, arena.pipe(index), style);
    }
    const fewer = Math.min(connections, one.maxConnections);
    const http = { url, bare, style, call: one.call, connections: fewer };
    return new HttpEntrant(arena, { ...http, tokens: tokens[part] });
  };
  return new Map(one.entrants.map((spec, index) => [spec.name, open(spec, index)]));
}

function samplesOf({ entrants, lines }: SliceCase, costs: ReadonlyMap<string, Slices>): Samples {
  const costOf = (name: string) => {
    const slices = costs.get(name);
    return slices && firstQuartile(slices);
  };
  const sampleOf = ({ cost, against = 'limit' }: Line): Sample => {
    const style = entrants.find(({ name }) => name === cost)?.style;
    const limit = costOf(against);
    const sameBytes = against === 'limit' ? costOf(`limit, ${style} bytes`) : undefined;
    return {
      cost: costOf(cost) ?? NaN,
      ...(limit !== undefined && { limit }),
      ...(sameBytes !== undefined && { sameBytes }),
    };
  };
  return new Map(lines.map((line) => [line.name, sampleOf(line)]));
}
