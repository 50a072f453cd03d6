import type { Client } from './clients.js';
import { json } from './formats/json.js';
import { entryFor, serverOf, type ServerOptions } from './install.js';
import { clientOf, targetOf } from './location.js';

/** What to add to the configuration of a client; undefined for clients that aren't known. */
export function print(client: Client | undefined, options: ServerOptions): string {
  const server = serverOf(options);
  if (client !== undefined) {
    const { format, place } = targetOf(client, server.name);
    return format.add('', place, entryFor(client, server));
  }
  const entry = 'url' in server ? { url: server.url } : clientOf('claude-desktop').program(server);
  return json.add('', { section: 'mcpServers', name: server.name }, entry);
}
