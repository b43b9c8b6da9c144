/** `websocket`: binary messages of RFC 6455 over one TCP connection, by the library `ws`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { endOf } from '../events.js';
import { Failure } from '../lines.js';
import { closed } from '../messages.js';
import { adopt, descriptors } from '../stream.js';

export const row = {
  name: 'websocket',
  family: 'websocket',
  about: 'WebSocket messages over loopback TCP by ws: send(), and the message event',
  workloads: ['roundtrip'],
  boundaries: ['process'],
  waits: ['block'],
  revision: 3,
  payload: { min: 0, max: 1 << 20, default: 64 },
  link: 'descriptors',
  peers: 'any',
  crosses: 'one frame a message: a header of 2, 4 or 10 bytes, from the client 4 bytes of mask, the message; as TCP segments through the loopback device',
  copies: "the kernel, twice a message, the second time into a new block of 64 KiB that libuv cuts to the frame's length; the client's library once more, to mask the message",
  wakes: 'the kernel: the softirq that the write raises delivers the segment and wakes the epoll_wait of the event loop',
  between_stamps: 'as tcp, and the frame: mask (client), header, writev of header and message, parse, unmask (server), message event; the handshake is over before',
  limits: '0 bytes to 1 MiB; ws as it is installed, that is without the native addon bufferutil: masks are applied in JavaScript; no compression; TCP_NODELAY is on, which ws does itself',
  sources: ['RFC 6455', 'https://github.com/websockets/ws/blob/master/doc/ws.md', 'tcp(7)'],
  system_calls: { min: 6, max: 8.5 },
};

/**
 * Waits for hands to be shaken.
 * @param {Promise<unknown>} handshake
 * @param {import('node:net').Socket} socket
 */
async function unlessClosed(handshake, socket) {
  const gone = once(socket, 'close').then(() => {
    throw closed();
  });
  gone.catch(() => {});
  await Promise.race([handshake, gone]);
}

/**
 * @param {import('ws')} ws
 * @param {import('node:net').Socket} socket
 */
async function asClient({ WebSocket }, socket) {
  const client = new WebSocket('ws://127.0.0.1/', {
    createConnection: () => socket,
    perMessageDeflate: false,
  });
  await unlessClosed(once(client, 'open'), socket);
  return client;
}

/**
 * @param {import('ws')} ws
 * @param {import('node:net').Socket} socket
 */
async function asServer({ WebSocketServer }, socket) {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const http = createServer((_, response) => response.writeHead(426).end());
  const connection = new Promise((resolve, reject) => {
    http.on('upgrade', (request, stream, head) =>
      server.handleUpgrade(request, stream, head, resolve));
    http.on('clientError', reject);
    server.on('wsClientError', reject);
  });
  http.emit('connection', socket);
  await unlessClosed(connection, socket);
  return connection;
}

/** @param {import('../attach.js').Attaching} attaching */
export async function attach({ seat, role, payload }) {
  const [fd] = descriptors(seat, 1);
  // Loaded first: an adopted socket is read from at once, and its end may come before
  // anybody listens for it.
  const ws = await import('ws');
  const socket = adopt(fd);
  const connection = await (role === 'caller' ? asClient(ws, socket) : asServer(ws, socket));
  const end = endOf(role, payload, (message) => connection.send(message));
  connection.on('message', (message, isBinary) => {
    if (isBinary) end.receive(message);
    else end.lose(new Failure('a text message came'));
  });
  connection.on('error', (error) => end.lose(error));
  connection.on('close', () => end.lose(closed()));
  return end;
}
