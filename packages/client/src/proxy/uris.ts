import type { ContentBlock, JsonObject, PromptMessage } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { originalUri, placedUri, type UriPlace } from '@decorum/core/plugin';

/** URIs that clients fetch themselves, that contain what they stand for, or that stand for a part of the message. */
const ELSEWHERE = /^(?:https?|data|cid):/i;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Cap on remembered schemes. */
const MAX_SCHEMES = 100;

/** Rewrites the URIs of an upstream to those that clients use, and back. */
export class Uris {
  private readonly schemes = new Set<string>();

  /**
   * @param place where the upstream's URIs go
   * @param isListed whether the upstream lists a URI, or a template for it
   */
  constructor(
    private readonly place: UriPlace,
    private readonly isListed: (uri: string) => boolean,
  ) {}

  /** The URI for clients. Links to web pages stay, unless the upstream lists them. */
  placed(uri: unknown): unknown {
    if (typeof uri !== 'string' || !SCHEME.test(uri)) return uri;
    if (ELSEWHERE.test(uri) && !this.isListed(uri)) return uri;
    this.learn(uri);
    return placedUri(uri, this.place);
  }

  /** The upstream's URI; undefined if it can't be one of its own. */
  original(uri: string): string | undefined {
    return originalUri(uri, this.place);
  }

  /** Remembers that the upstream uses the scheme of a URI. */
  learn(uri: string): void {
    if (this.schemes.size < MAX_SCHEMES) this.schemes.add(schemeOf(uri));
  }

  /** Whether the upstream may have a URI: a prefix says so, or else the schemes of the URIs that it has shown. */
  mayServe(uri: string): boolean {
    return this.place.uriSegment !== undefined || this.schemes.has(schemeOf(uri));
  }

  /** A result of a tool. */
  inResult(result: JsonObject): JsonObject {
    const { content } = result;
    return Array.isArray(content) ? { ...result, content: content.map((block) => this.inBlock(block)) } : result;
  }

  /** A result of a prompt. */
  inMessages(result: JsonObject): JsonObject {
    const { messages } = result as { readonly messages: readonly PromptMessage[] };
    const placed = messages.map((message) => ({ ...message, content: this.inBlock(message.content) }));
    return { ...result, messages: placed };
  }

  /**
   * A result of a read.
   * @param uri the upstream's URI that was read, which clients know by its place, whatever its scheme
   */
  inContents(result: JsonObject, uri: string): JsonObject {
    const { contents } = result as { readonly contents: readonly JsonObject[] };
    const placed = contents.map((each) => ({
      ...each,
      uri: each['uri'] === uri ? placedUri(uri, this.place) : this.placed(each['uri']),
    }));
    return { ...result, contents: placed };
  }

  private inBlock(block: unknown): ContentBlock {
    if (!isObject(block)) return block as unknown as ContentBlock;
    if (block['type'] === 'resource_link') {
      return { ...block, uri: this.placed(block['uri']) } as unknown as ContentBlock;
    }
    if (block['type'] !== 'resource' || !isObject(block['resource'])) return block as unknown as ContentBlock;
    const { resource } = block;
    return { ...block, resource: { ...resource, uri: this.placed(resource['uri']) } } as unknown as ContentBlock;
  }
}

const schemeOf = (uri: string): string => uri.slice(0, uri.indexOf(':')).toLowerCase();
