import { Describe, McpServer, Prompt, Resource, Tool, ToolError } from '@decorum/core';
import { IsString, MaxLength } from 'class-validator';

class Place {
  @Describe('City, for example "Oslo"')
  @IsString()
  @MaxLength(80)
  city!: string;
}

class Weather {
  private readonly forecasts = new Map([
    ['Oslo', 'snow, -3 °C'],
    ['Rome', 'sun, 14 °C'],
  ]);

  @Tool({ description: 'Tomorrow’s weather in a city', annotations: { readOnlyHint: true } })
  forecast({ city }: Place) {
    const forecast = this.forecasts.get(city);
    // the model sees this message, but not the messages of unexpected errors
    if (forecast === undefined) throw new ToolError(`There is no forecast for ${city}. Read weather://cities first.`);
    return `${city}: ${forecast}`;
  }

  @Resource('weather://cities', { description: 'The cities with a forecast', mimeType: 'application/json' })
  cities() {
    return [...this.forecasts.keys()];
  }

  @Prompt({ description: 'What to pack for a city' })
  pack({ city }: Place) {
    return `Look up tomorrow’s weather in ${city}. What should I pack?`;
  }
}

export const server = new McpServer({ name: '{{name}}', version: '1.0.0', providers: [Weather] });
