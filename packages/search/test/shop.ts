import { type Context, McpServer, type McpServerOptions, type Principal } from '@decorum/core';
import { search, type SearchOptions } from '@decorum/search';

const text = { type: 'string' } as const;

/** A tool to add: its description, its arguments and its other options. */
type Shelf = Readonly<Record<string, readonly [description: string, args?: readonly string[], options?: object]>>;

const TOOLS: Shelf = {
  create_order: ['Places an order of a customer', ['customer', 'article']],
  cancelOrder: ['Cancels an order, and refunds what was paid', ['order']],
  'orders/list': ['Lists the orders of a customer', ['customer'], { tags: ['orders'] }],
  add_article: ['Adds an article to the catalog', ['name', 'price']],
  remove_article: ['Removes an article from the catalog', ['article']],
  track_parcel: ['Tells where a parcel is', ['parcel']],
};

/** A server with a search that lists few tools, whose tools answer with their names and arguments. */
export function shop(
  options: SearchOptions = {},
  { tools = {}, ...given }: Partial<McpServerOptions> & { readonly tools?: Shelf } = {},
): McpServer {
  const server = new McpServer({
    name: 'shop',
    version: '1.0.0',
    plugins: [search({ above: 3, ...options })],
    logger: { warn() {}, error() {} },
    ...given,
  });
  addTools(server, { ...TOOLS, ...tools });
  return server;
}

/** Adds tools that answer with their names and arguments. */
export function addTools(server: McpServer, tools: Shelf) {
  return Object.entries(tools).map(([name, [description, args = [], options = {}]]) => {
    const properties = Object.fromEntries(args.map((arg) => [arg, text]));
    const input = { type: 'object', properties, required: [...args], additionalProperties: false } as const;
    const answer = (given: unknown, _ctx: Context) => `${name} ${JSON.stringify(given)}`;
    return server.addTool({ name: name.replace('/', '.'), description, input, ...options }, answer);
  });
}

/** Whether a caller is of the staff. */
export const isStaff = (principal: Principal | undefined): boolean => principal?.subject === 'staff';
