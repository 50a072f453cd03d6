import 'reflect-metadata';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpController, McpStrategy, StreamableHttpTransport, Tool } from '@rekog/mcp-nest';
import { Payload } from '@nestjs/microservices';

import { report } from './report.js';
import { TOOLS } from './tools.js';

// the compiled form of `@McpController() class { @Tool({ … }) add(@Payload() args) { … } }`
class BenchController {}
for (const { name, description, schema, run } of TOOLS) {
  Object.defineProperty(BenchController.prototype, name, {
    value: (args) => run(args),
    configurable: true,
    writable: true,
  });
  const descriptor = Object.getOwnPropertyDescriptor(BenchController.prototype, name);
  Tool({ name, description, parameters: schema })(BenchController.prototype, name, descriptor);
  Payload()(BenchController.prototype, name, 0);
}
McpController()(BenchController);

const strategy = new McpStrategy({
  name: 'bench',
  version: '1.0.0',
  transports: [new StreamableHttpTransport({ statefulMode: true, enableJsonResponse: true })],
});

class AppModule {}
Module({ controllers: [BenchController] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: false, bodyParser: true });
strategy.setHttpAdapter(app.getHttpAdapter());
app.connectMicroservice({ strategy });
await app.startAllMicroservices();
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address();
report(`http://127.0.0.1:${port}/mcp`);
