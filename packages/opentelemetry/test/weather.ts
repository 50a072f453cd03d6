import { Completion, Context, McpServer, Prompt, Resource, Tool, ToolError } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { context, propagation, trace } from '@opentelemetry/api';
import { IsString } from 'class-validator';

class Place {
  @IsString() city!: string;
}

/** One member of each kind. */
export class Weather {
  /** Called when `wait` is called. */
  onWait: () => void = () => {};
  /** Called when a call of `wait` was cancelled. */
  onAbort: () => void = () => {};

  @Tool() forecast({ city }: Place) {
    return `Rain in ${city}`;
  }

  @Tool() refuse({ city }: Place) {
    throw new ToolError(`No station in ${city}`);
  }

  @Tool() crash(_input: Place) {
    throw new Error('connect ECONNREFUSED 10.0.0.7:5432');
  }

  @Tool() async wait({ city }: Place, ctx: Context) {
    const aborted = new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    this.onWait();
    await aborted;
    this.onAbort();
    return `late in ${city}`;
  }

  @Tool() async book({ city }: Place, ctx: Context) {
    const first = await ctx.confirm(`Book ${city}?`);
    const second = await ctx.confirm('Really?');
    return `${first} ${second}`;
  }

  /** The client's trace id and baggage, as handlers see them. */
  @Tool() async whoCalls() {
    await Promise.resolve();
    const baggage = propagation.getBaggage(context.active())?.getEntry('user')?.value;
    return `${trace.getActiveSpan()?.spanContext().traceId} ${baggage}`;
  }

  @Resource('weather://{city}/today') today({ city }: Place) {
    return `Sun in ${city}`;
  }

  @Resource('weather://broken') broken(): string {
    throw new Error('disk failure');
  }

  @Prompt() pack({ city }: Place) {
    return `What should I pack for ${city}?`;
  }

  @Completion({ for: ['pack', 'today'], argument: 'city' }) cities(prefix: string) {
    return ['Oslo', 'Rome'].filter((city) => city.startsWith(prefix));
  }
}

/** A server with one member of each kind, and plugins. */
export function weatherServer(plugins: readonly Plugin[]): { readonly server: McpServer; readonly weather: Weather } {
  const weather = new Weather();
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  return {
    server: new McpServer({ name: 'weather', version: '1.0.0', providers: [weather], plugins, logger }),
    weather,
  };
}
