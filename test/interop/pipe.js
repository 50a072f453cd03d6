// Connects stdio to a pipe of the server, for clients that start their servers as processes: `node pipe.js <port>`.
import { connect } from 'node:net';

const socket = connect(Number(process.argv[2]), '127.0.0.1');
process.stdin.pipe(socket).pipe(process.stdout);
