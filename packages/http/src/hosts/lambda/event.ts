/**
 * The event of an HTTP request, as AWS Lambda passes it to a function: the payload formats 1.0 and 2.0 of API Gateway,
 * the format of function URLs, and that of Application Load Balancers. `hostRequest(ctx.transport)` returns it, and the
 * option `principal` gets it.
 * @typeParam Authorizer what an authorizer has found. Handlers take any object, as `@types/aws-lambda` has several
 */
export interface LambdaEvent<Authorizer extends object = LambdaAuthorizer> {
  /** The payload format. Load balancers, and some REST APIs, leave it out. */
  readonly version?: string | undefined;
  /** Format 2.0: the path, which begins with the stage unless that is `$default`. */
  readonly rawPath?: string | undefined;
  /** Format 2.0: the query without `?`, as sent. */
  readonly rawQueryString?: string | undefined;
  /** Format 2.0: the cookies, which are missing in `headers`. */
  readonly cookies?: readonly string[] | undefined;
  /** Format 1.0 and load balancers: the HTTP method. */
  readonly httpMethod?: string | undefined;
  /** Format 1.0 and load balancers: the path without the stage. */
  readonly path?: string | undefined;
  /** Headers. Format 1.0 has the last of several with the same name. */
  readonly headers?: Fields | null | undefined;
  /** Format 1.0, and load balancers that are set to send it: all values of each header. */
  readonly multiValueHeaders?: MultiValueFields | null | undefined;
  /** Format 1.0 and load balancers: the last value of each parameter. */
  readonly queryStringParameters?: Fields | null | undefined;
  /** Format 1.0, and load balancers that are set to send it: all values of each parameter. */
  readonly multiValueQueryStringParameters?: MultiValueFields | null | undefined;
  readonly body?: string | null | undefined;
  /** Whether `body` is encoded in Base64. */
  readonly isBase64Encoded?: boolean | undefined;
  /** What the gateway knows about the request. */
  readonly requestContext: LambdaRequestContext<Authorizer>;
}

/** Values by name. */
type Fields = Readonly<Record<string, string | undefined>>;

/** Lists of values by name. */
type MultiValueFields = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * What a gateway knows about a request. Clients can't forge it.
 * @typeParam Authorizer what an authorizer has found
 */
export interface LambdaRequestContext<Authorizer extends object = LambdaAuthorizer> {
  /** The host that the client has called. Load balancers don't have it. */
  readonly domainName?: string | undefined;
  readonly stage?: string | undefined;
  /** Format 2.0. */
  readonly http?: { readonly method?: string; readonly sourceIp?: string; readonly protocol?: string } | undefined;
  /** Format 1.0. */
  readonly identity?: { readonly sourceIp?: string | null } | undefined;
  /** What an authorizer of the gateway has found, such as `jwt.claims` in format 2.0 and `claims` in format 1.0. */
  readonly authorizer?: Authorizer | null | undefined;
  /** Load balancers. */
  readonly elb?: object | undefined;
}

/** What an authorizer of the gateway has found. Its shape depends on the kind of authorizer. */
export interface LambdaAuthorizer {
  /** Format 2.0: a JWT authorizer. */
  readonly jwt?: {
    readonly claims?: Readonly<Record<string, unknown>>;
    readonly scopes?: readonly string[] | null;
  };
  /** Format 1.0: an authorizer of Amazon Cognito. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Format 2.0: a Lambda authorizer. Format 1.0 has its values beside this. */
  readonly lambda?: Readonly<Record<string, unknown>> | null;
  /** Format 2.0: IAM. */
  readonly iam?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/** What Lambda passes beside the event, as far as it is used here. */
export interface LambdaContext {
  /** Milliseconds until Lambda ends the invocation. If it is missing, as in a test, requests have no time limit. */
  getRemainingTimeInMillis?(): number;
  /** Set to false: connections that stay open, such as those to a database, must not delay the next event. */
  callbackWaitsForEmptyEventLoop?: boolean;
}

/** How an event is written, and its response. */
export type EventFormat = '1.0' | '2.0' | 'elb';

/**
 * The format of an event.
 * @param where name of the function that created the handler
 * @throws {TypeError} if it is no HTTP request. The message says what it is
 */
export function formatOf(event: LambdaEvent, where: string): EventFormat {
  const { requestContext: context, httpMethod, rawPath } = (event ?? {}) as Partial<LambdaEvent>;
  // events for authorizers have a method and a path, too
  const isAuthorizer = typeof event === 'object' && event !== null && 'type' in event;
  if (typeof context === 'object' && context !== null && !isAuthorizer) {
    if (typeof httpMethod === 'string') return context.elb === undefined ? '1.0' : 'elb';
    if (typeof context.http?.method === 'string' && typeof rawPath === 'string') return '2.0';
  }
  throw new TypeError(
    `The handler of \`${where}\` takes HTTP requests from API Gateway, a function URL or an Application Load Balancer, ` +
      `but this event is ${kindOf(event)}. Remove that trigger from the function, or handle its events before you call ` +
      'the handler.',
  );
}

/** What an event is that is no HTTP request, as far as it tells. */
function kindOf(event: unknown): string {
  if (typeof event !== 'object' || event === null) return `a value of type ${event === null ? 'null' : typeof event}`;
  const { Records: records, source, requestContext, type } = event as Readonly<Record<string, unknown>>;
  const [first] = Array.isArray(records) ? (records as readonly Readonly<Record<string, unknown>>[]) : [];
  const from = first?.['eventSource'] ?? first?.['EventSource'];
  if (typeof from === 'string') return `a batch of records from "${from.slice(0, 50)}"`;
  if ('detail-type' in event) return `a scheduled or other event from "${String(source).slice(0, 50)}"`;
  if (type === 'REQUEST' || type === 'TOKEN') return 'a request for an authorizer';
  if (isObject(requestContext) && 'connectionId' in requestContext) return 'a message of a WebSocket';
  const names = Object.keys(event).slice(0, 5);
  return names.length === 0 ? 'empty' : `an object with ${names.map((name) => `"${name.slice(0, 50)}"`).join(', ')}`;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
