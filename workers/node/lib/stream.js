/**
 * Messages of fixed length over Node's byte streams.
 */
import net from 'node:net';
import { endOf } from './events.js';
import { closed } from './messages.js';
import { Failure, inherited } from './lines.js';

/**
 * Collects the parts of a message, and hands on whole ones.
 * @param {number} payload
 * @param {{receive: (message: Buffer) => void, refuse: (got: number) => void}} end
 * @returns {(part: Buffer) => void}
 */
export function reassembly(payload, end) {
  const whole = Buffer.alloc(payload);
  let filled = 0;
  return (part) => {
    if (filled === 0 && part.length === payload) return end.receive(part);
    if (filled + part.length > payload) {
      return end.refuse(filled + part.length);
    }
    part.copy(whole, filled);
    filled += part.length;
    if (filled === payload) {
      filled = 0;
      end.receive(whole);
    }
  };
}

/**
 * The descriptors of a seat's link.
 * @param {{link?: {fds?: number[]}}} seat
 * @param {number} count
 * @returns {number[]}
 */
export function descriptors(seat, count) {
  const fds = seat.link?.fds ?? [];
  if (fds.length !== count) {
    throw new Failure(`the link has ${fds.length} descriptors instead of ${count}`);
  }
  return fds.map(inherited);
}

/**
 * A connected stream socket as Node's.
 * @param {number} fd
 */
export function adopt(fd) {
  return new net.Socket({ fd, readable: true, writable: true });
}

/**
 * Plays an end over two streams, which may be one.
 * @param {{role: 'caller' | 'callee', payload: number}} seat
 * @param {net.Socket} incoming
 * @param {net.Socket} outgoing
 */
export function overStreams({ role, payload }, incoming, outgoing) {
  const end = endOf(role, payload, (message) => outgoing.write(message));
  for (const stream of new Set([incoming, outgoing])) {
    stream.on('error', (error) => end.lose(error.code === 'EPIPE' ? closed() : error));
    stream.on('close', () => end.lose(closed()));
  }
  incoming.on('end', () => end.lose(closed()));
  incoming.on('data', reassembly(payload, end));
  return end;
}
