/**
 * Sends the URL of this process to the measuring process, and then answers its questions about CPU time.
 * @param {string} url
 */
export function report(url) {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ micros: user + system });
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ url });
}

/**
 * Listens on a free port and calls `report`.
 * @param {import('node:http').Server} server
 */
export function listen(server) {
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    report(`http://127.0.0.1:${port}/mcp`);
  });
}
