import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { lambdaHandler } from '@decorum/http/lambda';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });

/** The function: `template.yaml` names it. */
export const handler = lambdaHandler(server);
