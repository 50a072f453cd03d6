/** A service that collects errors. */
export const tracker = {
  capture: (error: unknown, tags: { readonly reference: string; readonly method: string | undefined }) =>
    process.stdout.write(`${JSON.stringify({ captured: String(error), ...tags })}\n`),
};
