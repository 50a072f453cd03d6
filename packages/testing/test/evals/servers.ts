import { type Context, McpServer, NoInput, type Principal, Tool } from '@decorum/core';
import { search } from '@decorum/search';
import type { Model, ModelRequest } from '@decorum/testing';
import { IsIn, IsInt, IsOptional, IsString, Max, Min, registerDecorator } from 'class-validator';

/** A rule that no schema shows. */
const OnEarth = () => (target: object, propertyName: string) =>
  registerDecorator({
    name: 'onEarth',
    target: target.constructor,
    propertyName,
    validator: { validate: (value) => value !== 'Atlantis', defaultMessage: () => 'city must exist' },
  });

class Place {
  @IsString() @OnEarth() city!: string;
  @IsOptional() @IsInt() @Min(1) @Max(10) days?: number;
}

class Unit {
  @IsIn(['celsius', 'fahrenheit']) unit!: string;
}

/** The calls that a server has had. */
const called: string[] = [];

/** @throws {Error} if a tool was called */
export function requireUncalled(): void {
  if (called.length > 0) throw new Error(`These tools were called: ${called.splice(0).join(', ')}`);
}

class Weather {
  @Tool({ description: 'The weather of the next days', coerce: true, aliases: ['outlook'] })
  forecast({ city }: Place): string {
    called.push('forecast');
    return `Rain in ${city}`;
  }

  @Tool({ description: 'The weather\n  right now' })
  current({ city }: Place): string {
    called.push('current');
    return `Sun in ${city}`;
  }

  @Tool({ description: 'Sets the unit of temperatures' })
  unit({ unit }: Unit): string {
    called.push('unit');
    return unit;
  }

  @Tool({
    description: 'Deletes all data',
    access: (principal?: Principal) => principal?.subject === 'ada',
  })
  reset(_input: NoInput, _ctx: Context): string {
    called.push('reset');
    return 'Gone';
  }

  @Tool({ description: 'For our own pages', listed: false })
  secret(): string {
    called.push('secret');
    return '';
  }
}

const OPTIONS = { name: 'weather', version: '1.0.0', instructions: 'Cities are in English.', providers: [Weather] };

export const weather = (): McpServer => new McpServer(OPTIONS);

/** The same, with a list of the finders only. */
export const searched = (): McpServer => new McpServer({ ...OPTIONS, plugins: [search({ above: 0 })] });

/** A model that follows a script, and remembers what it was asked. */
export function scripted(
  ...answers: readonly Awaited<ReturnType<Model>>[]
): Model & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  const model = async (request: ModelRequest) => {
    asked.push(request);
    return await Promise.resolve(answers[(asked.length - 1) % answers.length]);
  };
  return Object.assign(model, { asked });
}
