import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { JsonObject } from '@decorum/core';
import { load } from 'js-yaml';

import { isObject } from './json.js';

/** Larger documents are refused. The largest that are known have 50 MB. */
const MAX_BYTES = 128 * 1024 * 1024;
/** How long a download may take. */
const DOWNLOAD_MS = 30_000;
/** Cap on the parts of a document, with each alias of YAML counted as what it stands for. */
const MAX_PARTS = 10_000_000;
const MAX_DEPTH = 200;

/** Whether a download follows redirects. */
type Redirect = 'follow' | 'error';

/** Says in a sentence why a document can't be read. The caller names the document. */
export class Unreadable extends Error {}

/** The URL of a file or document. */
export function locationOf(given: string | URL): URL {
  if (given instanceof URL) return given;
  if (/^(?:https?|file):\/\//i.test(given)) return new URL(given);
  return pathToFileURL(isAbsolute(given) ? given : resolve(given));
}

async function readBounded(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Unreadable(`is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function download(url: URL, redirect: Redirect): Promise<string> {
  if (url.username !== '' || url.password !== '')
    throw new Unreadable('has a user and password in its URL. Remove them');
  try {
    const accept = 'application/json, application/yaml, */*;q=0.5';
    const response = await fetch(url, { redirect, headers: { accept }, signal: AbortSignal.timeout(DOWNLOAD_MS) });
    if (response.ok) return await readBounded(response.body);
    throw new Unreadable(`can't be downloaded: the answer has the status ${response.status}`);
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    const { message, cause } = error as Error;
    throw new Unreadable(`can't be downloaded: ${cause instanceof Error ? cause.message : message}`);
  }
}

async function readText(url: URL, redirect: Redirect): Promise<string> {
  if (url.protocol !== 'file:') return await download(url, redirect);
  const path = fileURLToPath(url);
  try {
    if ((await stat(path)).size > MAX_BYTES) throw new Unreadable(`is larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable(`can't be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
}

/** Parses JSON, or else YAML. */
function parse(text: string): unknown {
  const isJson = /^\uFEFF?\s*[{[]/.test(text);
  try {
    return isJson ? JSON.parse(text.replace(/^\uFEFF/, '')) : load(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    // a flow mapping of YAML begins as JSON does
    if (isJson) return parseYaml(text, error as Error);
    throw new Unreadable(`is neither JSON nor YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

function parseYaml(text: string, { message }: Error): unknown {
  try {
    return load(text, { maxDepth: MAX_DEPTH });
  } catch {
    throw new Unreadable(`is not valid JSON: ${message}`);
  }
}

/** Refuses what would take for ever: aliases of YAML that multiply, and objects that contain themselves. */
function requireBounded(document: unknown): void {
  let left = MAX_PARTS;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    left -= 1;
    if (left < 0) throw new Unreadable(`has more than ${MAX_PARTS} parts, with the aliases of YAML and circles`);
    if (depth > MAX_DEPTH) throw new Unreadable(`is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    for (const part of Object.values(value)) visit(part, depth + 1);
  };
  visit(document, 0);
}

/**
 * Reads a JSON or YAML document.
 * @param redirect whether a download follows redirects
 * @throws {Unreadable}
 */
export async function readDocument(given: URL | JsonObject, redirect: Redirect): Promise<JsonObject> {
  const document = given instanceof URL ? parse(await readText(given, redirect)) : given;
  if (!isObject(document)) throw new Unreadable('is no object with members');
  requireBounded(document);
  return document;
}
