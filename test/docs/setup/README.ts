import Express from 'express';
import Fastify from 'fastify';

export { Forecast, WeatherApi } from '../../../examples/weather/src/weather-api.js';

export const fastify = Fastify();
export const express = Express();
