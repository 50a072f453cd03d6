import { serveNestStdio } from '@decorum/nestjs';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

import { AppModule } from './app.module.js';

if (process.argv.includes('--stdio')) {
  await serveNestStdio(AppModule);
} else {
  const app = await NestFactory.create(AppModule, new FastifyAdapter());
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] || 3000, '127.0.0.1');
  console.log(`Serving ${await app.getUrl()}/mcp`);
}
