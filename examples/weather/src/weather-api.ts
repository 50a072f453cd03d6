import { Describe, ToolError } from '@decorum/core';
import { IsIn, IsNumber, IsString } from 'class-validator';

/** A weather forecast. */
export class Forecast {
  @IsString()
  city!: string;

  @IsString()
  sky!: string;

  @Describe('Degrees')
  @IsNumber()
  temperature!: number;

  @IsIn(['°C', '°F'])
  unit!: '°C' | '°F';
}

const STATIONS = new Map([
  ['Bergen', { sky: 'rain', celsius: 9 }],
  ['Oslo', { sky: 'snow', celsius: -3 }],
  ['Rome', { sky: 'sun', celsius: 21 }],
]);

/** A fake weather service: three cities where the weather never changes. */
export class WeatherApi {
  readonly cities = [...STATIONS.keys()];

  /** @throws {ToolError} for a city without a station */
  async forecast(city: string, units: 'metric' | 'imperial' = 'metric'): Promise<Forecast> {
    const { sky, celsius } = this.station(city);
    const inFahrenheit = units === 'imperial';
    const temperature = inFahrenheit ? celsius * 1.8 + 32 : celsius;
    return { city, sky, temperature, unit: inFahrenheit ? '°F' : '°C' };
  }

  /** @returns undefined for a city without a station */
  async today(city: string): Promise<{ city: string; sky: string; celsius: number } | undefined> {
    const station = STATIONS.get(city);
    return station && { city, ...station };
  }

  private station(city: string) {
    const station = STATIONS.get(city);
    if (!station) throw new ToolError(`No station in "${city}". Use one of: ${this.cities.join(', ')}.`);
    return station;
  }
}
