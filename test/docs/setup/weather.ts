// A service for pages that aren't about the weather.
import { Tool } from '@decorum/core';
import { IsString } from 'class-validator';

export class City {
  @IsString() city!: string;
}

export class Weather {
  @Tool({ description: 'Tomorrow’s weather in a city' })
  forecast({ city }: City) {
    return `Sunny in ${city}`;
  }
}
