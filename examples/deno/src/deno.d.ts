/** The part of Deno that the example uses. In a project of your own, install `@types/deno` instead. */
declare const Deno: {
  readonly args: readonly string[];
  readonly env: { get(name: string): string | undefined };
  serve(
    options: { readonly port: number; readonly hostname: string; onListen(address: { readonly port: number }): void },
    handler: (request: Request, info: { readonly remoteAddr: { readonly hostname: string } }) => Promise<Response>,
  ): { shutdown(): Promise<void> };
  addSignalListener(signal: 'SIGINT' | 'SIGTERM', listener: () => void): void;
  exit(): never;
};
