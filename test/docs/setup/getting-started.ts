export declare class Self {
  readonly store: { add(text: string): string };
}
