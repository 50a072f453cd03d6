import type { CompiledMembers, Follower } from './compiled-members.js';

/** What was added to a server together, and who else serves it. */
export class Following {
  /** What ends each follower's serving of what was added together. */
  private readonly groups = new Map<CompiledMembers, Map<Follower, () => void>>();
  private readonly followers = new Set<Follower>();

  /**
   * Passes members to all followers, or to none if one of them throws.
   * @returns a function that takes them back
   */
  add(members: CompiledMembers): () => void {
    const served = new Map<Follower, () => void>();
    const remove = () => {
      this.groups.delete(members);
      for (const end of served.values()) end();
    };
    this.groups.set(members, served);
    try {
      for (const follower of this.followers) served.set(follower, follower(members));
    } catch (error) {
      remove();
      throw error;
    }
    return remove;
  }

  /**
   * Passes all members to a follower, and those that are added from now on.
   * @returns a function that ends this, and takes them back unless they are kept
   */
  join(follower: Follower): (isKept?: boolean) => void {
    const leave = (isKept = false) => {
      this.followers.delete(follower);
      for (const served of this.groups.values()) {
        const end = served.get(follower);
        served.delete(follower);
        if (!isKept) end?.();
      }
    };
    try {
      for (const [members, served] of this.groups) served.set(follower, follower(members));
    } catch (error) {
      leave();
      throw error;
    }
    this.followers.add(follower);
    return leave;
  }
}
