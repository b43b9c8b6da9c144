/** `pipe`: two pipes as Node's streams, one per direction. */
import net from 'node:net';
import { descriptors, overStreams } from '../stream.js';

export const row = {
  name: 'pipe',
  family: 'pipe',
  about: 'two pipes as net.Socket streams: write(), and the data event',
  workloads: ['roundtrip'],
  boundaries: ['process'],
  waits: ['block'],
  revision: 3,
  payload: { min: 1, max: 1 << 20, default: 64 },
  link: 'descriptors',
  peers: 'any',
  crosses: "the message's bytes, through a kernel buffer of 64 KiB per direction",
  copies: "the kernel, twice a message: from the sender's Buffer into the pipe's pages, from there into a new block of 64 KiB that libuv cuts to the message's length; a message that comes in parts once more",
  wakes: 'the kernel wakes the epoll_wait of the event loop from within write(2)',
  between_stamps: 'the whole turn of two event loops: write() tries write(2) at once, nextTick queue, epoll_wait, read, data event, comparison; the same on the other side',
  limits: '1 byte to 1 MiB; a message over 64 KiB is written and read in parts; every received message is a new Buffer, which the garbage collector frees',
  sources: ['https://nodejs.org/api/net.html', 'pipe(7)', 'epoll(7)'],
  system_calls: { min: 6, max: 8.5 },
};

/** @param {import('../attach.js').Attaching} attaching */
export function attach({ seat, role, payload }) {
  const [incoming, outgoing] = descriptors(seat, 2);
  return overStreams(
    { role, payload },
    new net.Socket({ fd: incoming, readable: true, writable: false }),
    new net.Socket({ fd: outgoing, readable: false, writable: true }),
  );
}
