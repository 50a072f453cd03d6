// The weather server in NestJS: `node nest-server.js express|fastify` prints its URL.
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { McpModule } from '@decorum/nestjs';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import { BODY_LIMIT, compress, permitTransforms, Steps } from './inside.js';

@Module({
  imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0', limits: { bodyLimit: BODY_LIMIT } })],
  providers: [{ provide: Weather, useValue: new Weather(new WeatherApi()) }, Steps],
})
class WeatherModule {}

async function main(platform: string | undefined) {
  const options = { logger: ['warn', 'error'] as ('warn' | 'error')[] };
  const app =
    platform === 'fastify'
      ? await NestFactory.create(
          WeatherModule,
          new (await import('@nestjs/platform-fastify')).FastifyAdapter(),
          options,
        )
      : await NestFactory.create(WeatherModule, options);
  app.enableShutdownHooks();
  app.enableCors();
  if (platform === 'express') app.use(compress, permitTransforms);
  await app.listen(0, '127.0.0.1');
  process.stdout.write(`${await app.getUrl()}/mcp\n`);
}

void main(process.argv[2]);
