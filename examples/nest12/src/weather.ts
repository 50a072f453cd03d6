import { Completion, Context, Prompt, Resource, Tool } from '@decorum/core';
import { Injectable, NotFoundException } from '@nestjs/common';
import { IsIn, IsNumber, IsString, MaxLength } from 'class-validator';

class Place {
  @IsString()
  @MaxLength(80)
  city!: string;
}

export class Forecast {
  @IsString() city!: string;
  @IsIn(['rain', 'snow', 'sun']) sky!: 'rain' | 'snow' | 'sun';
  @IsNumber() celsius!: number;
}

const SKIES = new Map<string, Forecast>([
  ['Bergen', { city: 'Bergen', sky: 'rain', celsius: 7 }],
  ['Oslo', { city: 'Oslo', sky: 'snow', celsius: -3 }],
  ['Rome', { city: 'Rome', sky: 'sun', celsius: 21 }],
]);

@Injectable()
export class WeatherApi {
  readonly cities = [...SKIES.keys()];

  async forecast(city: string): Promise<Forecast> {
    const forecast = SKIES.get(city);
    if (forecast) return forecast;
    throw new NotFoundException(`There is no station in ${city}. There is one in ${this.cities.join(', ')}.`);
  }
}

@Injectable()
export class Weather {
  constructor(private readonly api: WeatherApi) {}

  @Tool({ description: 'Tomorrow’s weather in a city', output: Forecast, annotations: { readOnlyHint: true } })
  async forecast({ city }: Place, ctx: Context): Promise<Forecast> {
    ctx.log.info(`Looking up ${city}`);
    return await this.api.forecast(city);
  }

  @Resource('weather://{city}/today', { mimeType: 'application/json', list: 'stations' })
  async today({ city }: Place) {
    return await this.api.forecast(city);
  }

  stations() {
    return this.api.cities.map((city) => ({ variables: { city }, name: city }));
  }

  @Prompt({ description: 'What to pack for a city' })
  pack({ city }: Place) {
    return `What should I pack for a day in ${city}? Look at the forecast first.`;
  }

  @Completion({ for: ['today', 'pack'], argument: 'city' })
  city(typed: string) {
    return this.api.cities.filter((city) => city.toLowerCase().startsWith(typed.toLowerCase()));
  }
}
