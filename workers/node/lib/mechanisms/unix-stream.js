/** `unix-stream`: a connected Unix stream socket as a net.Socket. */
import { adopt, descriptors, overStreams } from '../stream.js';

export const row = {
  name: 'unix-stream',
  family: 'unix socket',
  about: 'a Unix stream socket as a net.Socket: write(), and the data event',
  workloads: ['roundtrip'],
  boundaries: ['process'],
  waits: ['block'],
  revision: 3,
  payload: { min: 1, max: 1 << 20, default: 64 },
  link: 'descriptors',
  peers: 'any',
  crosses: "the message's bytes, in socket buffers queued at the receiving socket",
  copies: "the kernel, twice a message: from the sender's Buffer into a socket buffer, from there into a new block of 64 KiB that libuv cuts to the message's length; a message that comes in parts once more",
  wakes: 'the kernel wakes the epoll_wait of the event loop from within the write',
  between_stamps: 'the whole turn of two event loops: write() tries the system call at once, nextTick queue, epoll_wait, read, data event, comparison; the same on the other side',
  limits: '1 byte to 1 MiB; a long message is written and read in parts; every received message is a new Buffer, which the garbage collector frees',
  sources: ['https://nodejs.org/api/net.html', 'unix(7)', 'epoll(7)'],
  system_calls: { min: 6, max: 8.5 },
};

/** @param {import('../attach.js').Attaching} attaching */
export function attach({ seat, role, payload }) {
  const [fd] = descriptors(seat, 1);
  const socket = adopt(fd);
  return overStreams({ role, payload }, socket, socket);
}
