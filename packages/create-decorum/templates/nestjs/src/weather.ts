import { Describe, Prompt, Resource, Tool } from '@decorum/core';
import { Injectable, NotFoundException } from '@nestjs/common';
import { IsString, MaxLength } from 'class-validator';

class Place {
  @Describe('City, for example "Oslo"')
  @IsString()
  @MaxLength(80)
  city!: string;
}

@Injectable()
export class WeatherApi {
  readonly forecasts = new Map([
    ['Oslo', 'snow, -3 °C'],
    ['Rome', 'sun, 14 °C'],
  ]);
}

@Injectable()
export class Weather {
  constructor(private readonly api: WeatherApi) {}

  @Tool({ description: 'Tomorrow’s weather in a city', annotations: { readOnlyHint: true } })
  forecast({ city }: Place) {
    const forecast = this.api.forecasts.get(city);
    // the model sees this message, but not the messages of unexpected errors
    if (forecast === undefined) {
      throw new NotFoundException(`There is no forecast for ${city}. Read weather://cities first.`);
    }
    return `${city}: ${forecast}`;
  }

  @Resource('weather://cities', { description: 'The cities with a forecast', mimeType: 'application/json' })
  cities() {
    return [...this.api.forecasts.keys()];
  }

  @Prompt({ description: 'What to pack for a city' })
  pack({ city }: Place) {
    return `Look up tomorrow’s weather in ${city}. What should I pack?`;
  }
}
