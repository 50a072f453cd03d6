/**
 * Parses the JSON body of a request.
 * @param {import('node:http').IncomingMessage} request
 */
export async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}
