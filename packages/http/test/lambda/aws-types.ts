// The handlers fit the types that programs for AWS Lambda are written with. The compiler is the test.
import type {
  ALBEvent,
  ALBHandler,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  APIGatewayProxyResult,
  APIGatewayProxyStructuredResultV2,
  APIGatewayProxyWithCognitoAuthorizerEvent,
  Context,
  Handler,
  LambdaFunctionURLEventWithIAMAuthorizer,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import type { LambdaHandler } from '@decorum/http/lambda';

interface Caller {
  readonly userId: string;
}

declare const handler: LambdaHandler;

export const restApi: APIGatewayProxyHandler = handler;
export const httpApi: APIGatewayProxyHandlerV2 = handler;
export const functionUrl: LambdaFunctionURLHandler = handler;
export const loadBalancer: ALBHandler = handler;
export const anything: Handler = handler;

export const fromRestApi = async (event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult> =>
  await handler(event, context);
export const fromHttpApi = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> =>
  await handler(event);
export const fromLoadBalancer = async (event: ALBEvent) => await handler(event);
export const withJwt = async (event: APIGatewayProxyEventV2WithJWTAuthorizer) => await handler(event);
export const withCognito = async (event: APIGatewayProxyWithCognitoAuthorizerEvent) => await handler(event);
export const withIam = async (event: LambdaFunctionURLEventWithIAMAuthorizer) => await handler(event);
export const withFunction = async (event: APIGatewayProxyEventV2WithLambdaAuthorizer<Caller>) => await handler(event);
