/** The part of Bun that the example uses. In a project of your own, install `@types/bun` instead. */
declare const Bun: {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly idleTimeout: number;
    fetch(
      request: Request,
      server: { requestIP(request: Request): { readonly address: string } | null },
    ): Promise<Response>;
  }): { readonly port: number; stop(): Promise<void> };
};
