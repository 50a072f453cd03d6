/** Cap on the characters that are kept: a text of another size than usual is rare, so all are counted the same. */
const MAX_CHARACTERS = 16 * 1_048_576;

/** The texts that were used last, up to a cap. */
export class TextCache {
  private readonly texts = new Map<string, string>();
  private characters = 0;

  get(id: string): string | undefined {
    const text = this.texts.get(id);
    if (text !== undefined) this.set(id, text);
    return text;
  }

  set(id: string, text: string): void {
    this.delete(id);
    this.texts.set(id, text);
    this.characters += text.length;
    for (const oldest of this.texts.keys()) {
      if (this.characters <= MAX_CHARACTERS) return;
      this.delete(oldest);
    }
  }

  delete(id: string): void {
    this.characters -= this.texts.get(id)?.length ?? 0;
    this.texts.delete(id);
  }
}
