// Applications of tests, which end with the test, and what clients get from them.
import { McpServer, Tool } from '@decorum/core';
import { McpModule, type McpModuleOptions } from '@decorum/nestjs';
import { connect } from '@decorum/testing';
import { afterEach } from '@jest/globals';
import { type INestApplicationContext, Injectable, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IsString } from 'class-validator';

/** Settings of an application that logs nothing, and throws what fails at its start. */
export const QUIET = { logger: false, abortOnError: false } as const;

/** The platforms, and how an application gets each. */
export const PLATFORMS: readonly (readonly [name: string, adapter: () => ExpressAdapter])[] = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter() as unknown as ExpressAdapter],
];

export const NAMED = { name: 'shop', version: '1.0.0' };

export const forRoot = (options: Partial<McpModuleOptions> = {}) => McpModule.forRoot({ ...NAMED, ...options });

export class Order {
  @IsString() id!: string;
}

/** A provider with one tool. */
@Injectable()
export class Shop {
  @Tool() order() {
    return 'ordered';
  }
}

/** Denies every call. */
@Injectable()
export class Denied {
  canActivate() {
    return false;
  }
}

const open: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** Closes an application or a client at the end of the test. */
export function closing<T extends { close(): Promise<unknown> }>(opened: T): T {
  open.unshift(opened);
  return opened;
}

/** A root module. */
export function moduleOf(metadata: ModuleMetadata) {
  class AppModule {}
  Module(metadata)(AppModule);
  return AppModule;
}

/** An application of a root module, without HTTP. */
export async function started(metadata: ModuleMetadata): Promise<INestApplicationContext> {
  return closing(await NestFactory.createApplicationContext(moduleOf(metadata), QUIET));
}

/** An application with one server, without HTTP, and a client of it. */
export async function serve(providers: Provider[], options: Partial<McpModuleOptions> = {}) {
  const app = await started({ imports: [forRoot(options)], providers });
  const server = app.get(McpServer);
  return { app, server, client: await connect(server) };
}

/** The text of a result. */
export const textIn = ({ content }: { readonly content: readonly unknown[] }): string =>
  (content[0] as { readonly text: string }).text;

/** The text that a tool answers to a new client. */
export async function textOf(server: McpServer, tool: string): Promise<string> {
  const client = await connect(server);
  const text = textIn(await client.callTool(tool));
  await client.close();
  return text;
}

/** The names of the tools that a new client sees. */
export async function toolsOf(server: McpServer): Promise<string[]> {
  const client = await connect(server);
  const names = (await client.listTools()).map(({ name }) => name);
  await client.close();
  return names;
}
