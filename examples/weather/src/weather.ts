import { Completion, Context, Describe, Prompt, Resource, Tool } from '@decorum/core';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';

import { Forecast, type WeatherApi } from './weather-api.js';

class Place {
  @Describe('City, for example "Oslo"')
  @IsString()
  @MaxLength(80)
  city!: string;
}

class ForecastQuery extends Place {
  @Describe('°C or °F')
  @IsOptional()
  @IsIn(['metric', 'imperial'])
  units?: 'metric' | 'imperial' = 'metric';
}

/** The tools, resources and prompts of the weather server. */
export class Weather {
  constructor(private readonly api: WeatherApi) {}

  @Tool({ description: 'Tomorrow’s weather in a city', output: Forecast, annotations: { readOnlyHint: true } })
  async forecast({ city, units }: ForecastQuery, ctx: Context): Promise<Forecast> {
    ctx.log.info(`Looking up ${city}`);
    return await this.api.forecast(city, units);
  }

  @Resource('weather://{city}/today', { mimeType: 'application/json', list: 'stations' })
  async today({ city }: Place) {
    return await this.api.today(city);
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
