/**
 * `udp`: two connected UDP sockets over loopback, by dgram.
 *
 * By address, because dgram can take over a descriptor (`bind({fd})`) but not that its
 * socket is connected: send() without an address is refused by Node, and with one, as
 * is connect(), by libuv (EISCONN).
 */
import dgram from 'node:dgram';
import { once } from 'node:events';
import { endOf } from '../events.js';
import { Failure } from '../lines.js';

export const row = {
  name: 'udp',
  family: 'inet socket',
  about: 'two connected UDP sockets over loopback by dgram: send(), and the message event',
  workloads: ['roundtrip'],
  boundaries: ['process'],
  waits: ['block'],
  revision: 3,
  payload: { min: 0, max: 65_507, default: 64 },
  link: 'address',
  peers: 'any',
  crosses: 'one datagram a message, through the loopback device',
  copies: "the kernel, twice a message: from the sender's Buffer into a socket buffer, from there into a new block of 64 KiB that Node cuts to the message's length",
  wakes: 'the kernel: the softirq that the send raises delivers the datagram and wakes the epoll_wait of the event loop',
  between_stamps: 'the whole turn of two event loops: send() tries the system call at once, nextTick queue, epoll_wait, recvmsg until there is no more, message event with the address of its sender as an object, comparison; the same on the other side',
  limits: '0 to 65,507 bytes, the most that one datagram holds; a caller does not send again, so a lost datagram ends the trial at its deadline; a callee that waits for a dead partner is ended by the deadline too (an end that sends to it gets ECONNREFUSED)',
  sources: ['https://nodejs.org/api/dgram.html', 'udp(7)', 'epoll(7)'],
  system_calls: { min: 8, max: 10.5 },
};

/**
 * @param {dgram.Socket} socket
 * @param {number} port
 */
async function connect(socket, port) {
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
}

/** @param {string} address */
function portOf(address) {
  const found = /^127\.0\.0\.1:(\d{1,5})$/.exec(address);
  if (!found) throw new Failure(`\`${address}\` is not 127.0.0.1:PORT`);
  return Number(found[1]);
}

/** @param {import('../attach.js').Attaching} attaching */
export async function attach({ seat, role, payload }) {
  const { offer, connect: to } = seat.link ?? {};
  if (!offer && !to) throw new Failure('udp is attached by an address, and the link has none');
  const socket = dgram.createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  // No callback: one would be called for every message.
  const end = endOf(role, payload, (message) => socket.send(message), { mayRepeat: true });
  const listen = () => {
    socket.on('message', (message) => end.receive(message));
    socket.on('error', (error) => end.lose(error));
  };
  if (to) {
    await connect(socket, portOf(to.address));
    listen();
    socket.send(Buffer.from(to.token));
    return end;
  }
  const first = once(socket, 'message');
  // It is awaited in `meet`; an error before that is said there.
  first.catch(() => {});
  return Object.assign(end, {
    offers: `127.0.0.1:${socket.address().port}`,
    async meet() {
      const [token, from] = await first;
      if (!token.equals(Buffer.from(offer.token))) {
        throw new Failure('somebody else than the other end sent the first datagram');
      }
      listen();
      await connect(socket, from.port);
    },
  });
}
