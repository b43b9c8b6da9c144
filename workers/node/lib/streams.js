/**
 * Mechanisms on descriptors of pipes and stream sockets: `pipe`, `pipe-sync`, `unix-stream`, `tcp`,
 * `websocket`.
 */
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { BlockingEnd, endOf } from './ends.js';
import { Failure, closed } from './lines.js';

/**
 * What a mechanism reads of `attach`, with role and link of the first seat.
 * @typedef {object} Attaching
 * @property {string} mechanism
 * @property {string} workload
 * @property {'caller' | 'callee'} role
 * @property {number} payload
 * @property {Record<string, string>} parameters
 * @property {Record<'caller' | 'callee', string>} waits
 * @property {any} link
 * @property {number} [spoil]
 */

/**
 * Collects the parts of messages, and hands on whole ones.
 * @param {number} payload
 * @param {{receive: (message: Buffer) => void, refuse: (got: number) => void}} end
 * @returns {(part: Buffer) => void}
 */
function reassembly(payload, end) {
  const whole = Buffer.alloc(payload);
  let filled = 0;
  return (part) => {
    if (filled === 0 && part.length === payload) return end.receive(part);
    for (let from = 0; from < part.length;) {
      const taken = part.copy(whole, filled, from);
      filled += taken;
      from += taken;
      if (filled < payload) return;
      filled = 0;
      end.receive(whole);
    }
  };
}

/**
 * A connected stream socket as Node's.
 * @param {number} fd
 */
function adopt(fd) {
  return new net.Socket({ fd, readable: true, writable: true });
}

/**
 * Plays an end over two streams, which may be one.
 * @param {Attaching} attaching
 * @param {net.Socket} incoming
 * @param {net.Socket} outgoing
 */
function overStreams(attaching, incoming, outgoing) {
  const end = endOf(attaching, (message) => outgoing.write(message));
  for (const stream of new Set([incoming, outgoing])) {
    stream.on('error', (error) => end.lose(error.code === 'EPIPE' ? closed() : error));
    stream.on('close', () => end.lose(closed()));
  }
  incoming.on('end', () => end.lose(closed()));
  incoming.on('data', reassembly(attaching.payload, end));
  return end;
}

/**
 * Two pipes as Node's streams, one per direction.
 * @param {Attaching} attaching
 */
export function pipe(attaching) {
  const [incoming, outgoing] = attaching.link.fds;
  return overStreams(
    attaching,
    new net.Socket({ fd: incoming, readable: true, writable: false }),
    new net.Socket({ fd: outgoing, readable: false, writable: true }),
  );
}

/**
 * Two pipes by fs.readSync() and fs.writeSync(), without the event loop.
 * @param {Attaching} attaching
 */
export function pipeSync(attaching) {
  const { payload, link } = attaching;
  const [incoming, outgoing] = link.fds;
  const whole = Buffer.alloc(payload);
  return new BlockingEnd(
    attaching,
    (message) => {
      try {
        for (let done = 0; done < payload;) {
          done += fs.writeSync(outgoing, message, done, payload - done);
        }
      } catch (error) {
        throw error.code === 'EPIPE' ? closed() : error;
      }
    },
    () => {
      for (let done = 0; done < payload;) {
        const got = fs.readSync(incoming, whole, done, payload - done, null);
        if (got === 0) throw closed();
        done += got;
      }
      return whole;
    },
  );
}

/**
 * A connected stream socket as a net.Socket.
 * @param {Attaching} attaching
 */
export function stream(attaching) {
  const socket = adopt(attaching.link.fds[0]);
  const { nodelay } = attaching.parameters;
  if (nodelay) socket.setNoDelay(nodelay === 'on');
  return overStreams(attaching, socket, socket);
}

/**
 * Waits for hands to be shaken.
 * @param {Promise<unknown>} handshake
 * @param {net.Socket} socket
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
 * @param {net.Socket} socket
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
 * @param {net.Socket} socket
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

/**
 * Binary messages of RFC 6455 over one TCP connection, by the library `ws`.
 * @param {Attaching} attaching
 */
export async function websocket(attaching) {
  // Loaded first: an adopted socket is read from at once, and its end may come before
  // anybody listens for it.
  const ws = await import('ws');
  const socket = adopt(attaching.link.fds[0]);
  const shake = attaching.role === 'caller' ? asClient : asServer;
  const connection = await shake(ws, socket);
  const end = endOf(attaching, (message) => connection.send(message));
  connection.on('message', (message, isBinary) => {
    if (isBinary) end.receive(message);
    else end.lose(new Failure('a text message came'));
  });
  connection.on('error', (error) => end.lose(error));
  connection.on('close', () => end.lose(closed()));
  return end;
}
