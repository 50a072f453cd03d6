// Events as AWS documents them: payload formats 1.0 and 2.0 of API Gateway, function URLs and load balancers.
import type { LambdaEvent } from '@decorum/http/lambda';

/** What sends the event. */
export type Source = 'REST API' | 'HTTP API' | 'function URL' | 'load balancer';

/** An HTTP request, as a gateway has read it. */
export interface GatewayRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly sourceIp: string;
}

export const DOMAIN = 'abcdefghij.execute-api.eu-central-1.amazonaws.com';
const STAGE = 'prod';

/** The event of a request. */
export function eventOf(source: Source, request: GatewayRequest): LambdaEvent {
  switch (source) {
    case 'REST API':
      return formatOne(request);
    case 'load balancer':
      return balanced(request);
    default:
      return formatTwo(source, request);
  }
}

const partsOf = (url: string) => {
  const { pathname, search, searchParams } = new URL(url, 'http://localhost');
  return { pathname, search: search.slice(1), searchParams };
};

/** All values by name; the last value of each. */
function listsOf(pairs: Iterable<readonly [string, string]>) {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of pairs) (lists[name] ??= []).push(value);
  const single = Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1) as string]));
  return { lists, single };
}

function formatOne({ method, url, headers, body, sourceIp }: GatewayRequest): LambdaEvent {
  const { pathname, searchParams } = partsOf(url);
  // REST APIs send no length of the body
  const fields = listsOf(headers.filter(([name]) => !/^content-length$/i.test(name)));
  const query = listsOf(searchParams);
  const hasQuery = searchParams.size > 0;
  return {
    resource: '/{proxy+}',
    path: pathname,
    httpMethod: method,
    headers: fields.single,
    multiValueHeaders: fields.lists,
    queryStringParameters: hasQuery ? query.single : null,
    multiValueQueryStringParameters: hasQuery ? query.lists : null,
    pathParameters: { proxy: pathname.slice(1) },
    stageVariables: null,
    requestContext: {
      accountId: '111122223333',
      apiId: 'abcdefghij',
      authorizer: null,
      domainName: DOMAIN,
      domainPrefix: 'abcdefghij',
      httpMethod: method,
      identity: { accessKey: null, sourceIp, userAgent: 'test', user: null },
      path: `/${STAGE}${pathname}`,
      protocol: 'HTTP/1.1',
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      resourcePath: '/{proxy+}',
      stage: STAGE,
    },
    body: body === '' ? null : body,
    isBase64Encoded: false,
  } as LambdaEvent;
}

function formatTwo(source: Source, { method, url, headers, body, sourceIp }: GatewayRequest): LambdaEvent {
  const { pathname, search } = partsOf(url);
  const isUrl = source === 'function URL';
  const path = isUrl ? pathname : `/${STAGE}${pathname}`;
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const { lists } = listsOf(lower.filter(([name]) => name !== 'cookie'));
  const cookies = lower.filter(([name]) => name === 'cookie').flatMap(([, value]) => value.split('; '));
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: search,
    ...(cookies.length > 0 && { cookies }),
    headers: Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.join(',')])),
    requestContext: {
      accountId: isUrl ? 'anonymous' : '111122223333',
      apiId: 'abcdefghij',
      domainName: isUrl ? 'abcdefghij.lambda-url.eu-central-1.on.aws' : DOMAIN,
      domainPrefix: 'abcdefghij',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: 'test' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: '$default',
      stage: isUrl ? '$default' : STAGE,
      time: '12/Mar/2026:19:03:58 +0000',
      timeEpoch: 1_773_342_238_123,
    },
    // function URLs encode whatever is not known to be text
    ...(body !== '' && { body: Buffer.from(body).toString('base64') }),
    isBase64Encoded: body !== '',
  } as LambdaEvent;
}

function balanced({ method, url, headers, body, sourceIp }: GatewayRequest): LambdaEvent {
  const { pathname, search } = partsOf(url);
  const pairs = search === '' ? [] : search.split('&').map((pair) => pair.split('=') as [string, string]);
  const forwarded = headers.find(([name]) => name.toLowerCase() === 'x-forwarded-for')?.[1];
  const own = [
    ['x-forwarded-for', forwarded === undefined ? sourceIp : `${forwarded}, ${sourceIp}`],
    ['x-forwarded-port', '443'],
    ['x-forwarded-proto', 'https'],
  ] as const;
  const sent = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    requestContext: {
      elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:eu-central-1:111122223333:targetgroup/mcp' },
    },
    httpMethod: method,
    path: pathname,
    queryStringParameters: listsOf(pairs).single,
    headers: listsOf([...sent.filter(([name]) => name !== 'x-forwarded-for'), ...own]).single,
    body,
    isBase64Encoded: false,
  };
}
