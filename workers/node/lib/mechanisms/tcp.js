/** `tcp`: one TCP connection over loopback as a net.Socket. */
import { Failure } from '../lines.js';
import { adopt, descriptors, overStreams } from '../stream.js';

export const row = {
  name: 'tcp',
  family: 'inet socket',
  about: 'a TCP connection over loopback as a net.Socket: write(), and the data event',
  workloads: ['roundtrip'],
  boundaries: ['process'],
  waits: ['block'],
  revision: 3,
  payload: { min: 1, max: 1 << 20, default: 64 },
  parameters: [
    {
      name: 'nodelay',
      values: ['on', 'off'],
      default: 'on',
      about: 'TCP_NODELAY (setNoDelay) at both ends; Node itself leaves it off',
    },
  ],
  link: 'descriptors',
  peers: 'any',
  crosses: "the message's bytes, as segments through the loopback device",
  copies: "the kernel, twice a message: from the sender's Buffer into a socket buffer, from there into a new block of 64 KiB that libuv cuts to the message's length; a message that comes in parts once more",
  wakes: 'the kernel: the softirq that the write raises delivers the segment and wakes the epoll_wait of the event loop',
  between_stamps: 'the whole turn of two event loops: write() tries write(2) at once, nextTick queue, epoll_wait, read, data event, comparison; the same on the other side',
  limits: '1 byte to 1 MiB; a long message is written and read in parts; every received message is a new Buffer, which the garbage collector frees',
  sources: ['https://nodejs.org/api/net.html', 'tcp(7)', 'epoll(7)'],
  system_calls: { min: 6, max: 8.5 },
};

/** @param {import('../attach.js').Attaching} attaching */
export function attach({ of, seat, role, payload }) {
  const nodelay = of.keys.nodelay ?? 'on';
  if (nodelay !== 'on' && nodelay !== 'off') {
    throw new Failure(`nodelay is \`on\` or \`off\`, not \`${nodelay}\``);
  }
  const [fd] = descriptors(seat, 1);
  const socket = adopt(fd);
  socket.setNoDelay(nodelay === 'on');
  return overStreams({ role, payload }, socket, socket);
}
