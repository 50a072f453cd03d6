/**
 * Tells the process that measures where this one listens, and from then on what it has used.
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
 * Listens on a free port, and reports.
 * @param {import('node:http').Server} server
 */
export function listen(server) {
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    report(`http://127.0.0.1:${port}/mcp`);
  });
}
