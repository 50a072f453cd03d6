// Imported before a program from the documentation. The program then listens on a free port instead of the one on the
// page, and sends the test its address.
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function (/** @type {any[]} */ ...args) {
  this.once('listening', () => process.send?.(this.address()));
  const [where, ...rest] = args;
  const isOptions = typeof where === 'object' && where !== null && 'port' in where;
  const free = isOptions ? { ...where, port: 0 } : typeof where === 'number' ? 0 : where;
  return Reflect.apply(listen, this, [free, ...rest]);
};
