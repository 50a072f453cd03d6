/** Options of `openapi`. */
export interface OpenApiOptions {
  /** Where requests go. The document's `servers` never decide. */
  readonly baseUrl: string | URL;
}
