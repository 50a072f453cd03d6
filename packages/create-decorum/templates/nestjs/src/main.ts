import { NestFactory } from '@nestjs/core';

import { AppModule } from './app.module.js';

const { PORT, HOST } = process.env;
const app = await NestFactory.create(AppModule);
app.enableShutdownHooks();
await app.listen(Number(PORT || 3000), HOST || '127.0.0.1');
console.log(`Serving ${await app.getUrl()}/mcp`);
