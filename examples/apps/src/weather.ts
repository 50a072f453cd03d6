import { readFile } from 'node:fs/promises';

import { App } from '@decorum/apps';
import { Describe, Tool, ToolError } from '@decorum/core';
import { IsInt, IsString, Max, MaxLength, Min } from 'class-validator';

class Place {
  @Describe('City: Bergen, Oslo or Rome')
  @IsString()
  @MaxLength(80)
  city!: string;
}

class Day extends Place {
  @Describe('Days from today')
  @IsInt()
  @Min(0)
  @Max(6)
  day!: number;
}

class Forecast extends Day {
  @IsString()
  sky!: string;

  @IsInt()
  celsius!: number;
}

const CARD = 'ui://weather/card';
const CARD_FILE = new URL('../card.html', import.meta.url);

const STATIONS = new Map([
  ['Bergen', 9],
  ['Oslo', -3],
  ['Rome', 21],
]);
const SKIES = ['sun', 'clouds', 'rain'];

/** A forecast with a card. Its arrows call `forecast_day`, which the model doesn't see. */
export class Weather {
  @Tool({
    description: 'Tells tomorrow’s weather in a city',
    annotations: { readOnlyHint: true },
    output: Forecast,
    text: ({ city, sky, celsius }: Forecast) => `Tomorrow in ${city}: ${sky}, ${celsius} °C`,
    ui: CARD,
  })
  forecast({ city }: Place): Forecast {
    return this.forecastDay({ city, day: 1 });
  }

  @Tool({
    name: 'forecast_day',
    description: 'Tells the weather of a day',
    annotations: { readOnlyHint: true },
    output: Forecast,
    ui: { resourceUri: CARD, visibility: ['app'] },
  })
  forecastDay({ city, day }: Day): Forecast {
    const celsius = STATIONS.get(city);
    if (celsius === undefined)
      throw new ToolError(`No station in "${city}". Use one of: ${[...STATIONS.keys()].join(', ')}.`);
    return { city, day, sky: SKIES[(day + celsius + 3) % SKIES.length] as string, celsius: celsius + day };
  }

  @App(CARD, { title: 'Weather', prefersBorder: true })
  card() {
    return readFile(CARD_FILE, 'utf8');
  }
}
