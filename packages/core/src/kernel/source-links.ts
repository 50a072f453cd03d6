import { attempt } from '@decorum/schema/internal';

/** A source of members that finds out elsewhere when its resources change. */
export interface Follower {
  /** A client follows the resource with this URI from now on, which may be one of another source. Called again for each client. */
  follow(uri: string): void | Promise<void>;
  /** Some resources may no longer be followed. */
  review(isFollowed: (uri: string) => boolean): void;
}

/** Milliseconds within which clients that leave are reviewed together. */
const REVIEW_MS = 1000;

/** What sources of members do besides adding members. */
export class SourceLinks {
  private readonly followers = new Set<Follower>();
  private readonly texts: (() => string | undefined)[] = [];
  private readonly outer = new Set<() => Iterable<string>>();
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param followed the URIs that the clients of this process follow
   * @param report receives errors of sources
   */
  constructor(
    private readonly followed: () => Iterable<string>,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Adds a source that wants to know which resources clients follow. */
  join(follower: Follower): void {
    this.followers.add(follower);
  }

  /**
   * Serves the clients of a server that mounts this one, too.
   * @param own this server's URI for one of that server; undefined for URIs of other members
   * @returns a function that ends that
   */
  serve(outer: SourceLinks, own: (uri: string) => string | undefined): () => void {
    const ownOf = (uri: string) => own(uri) ?? [];
    const followed = () => [...outer.allFollowed()].flatMap(ownOf);
    const follower = {
      follow: async (uri: string) => await this.follow([uri].flatMap(ownOf)),
      review: () => this.review(),
    };
    this.outer.add(followed);
    outer.join(follower);
    return () => {
      this.outer.delete(followed);
      outer.followers.delete(follower);
      this.review();
    };
  }

  private *allFollowed(): Generator<string, void, void> {
    yield* this.followed();
    for (const followed of this.outer) yield* followed();
  }

  /** Adds a text to the server's instructions. It is asked for each time. */
  instruct(text: () => string | undefined): void {
    this.texts.push(text);
  }

  /** The server's instructions, with those of sources. */
  instructions(own: string | undefined): string | undefined {
    if (this.texts.length === 0) return own;
    const all = [own, ...this.texts.map((text) => text())].filter((text) => text !== undefined && text !== '');
    return all.length > 0 ? all.join('\n\n') : undefined;
  }

  /** A client is about to follow resources. Resolves once their sources know. */
  async follow(uris: Iterable<string>): Promise<void> {
    if (this.followers.size === 0) return;
    const told = [...uris].flatMap((uri) =>
      [...this.followers].map(async (follower) => {
        try {
          await follower.follow(uri);
        } catch (error) {
          this.report(error);
        }
      }),
    );
    await Promise.all(told);
  }

  /** A client may have stopped to follow resources. */
  review(): void {
    if (this.followers.size === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const followed = new Set(this.allFollowed());
      for (const follower of this.followers) attempt(() => follower.review((uri) => followed.has(uri)), this.report);
    }, REVIEW_MS).unref();
  }
}
