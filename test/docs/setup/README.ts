import { IsString } from 'class-validator';
import Express from 'express';
import Fastify from 'fastify';

export class Forecast {
  @IsString() sky!: string;
}

/** The page links to the example that this class is from. */
export class WeatherApi {
  readonly cities = ['Oslo', 'Rome'];

  async forecast(_city: string, _units = 'metric'): Promise<Forecast> {
    return { sky: 'snow' };
  }

  async today(city: string) {
    return { city, sky: 'sun' };
  }
}

export const fastify = Fastify();
export const express = Express();
