/**
 * `udp`, two connected UDP sockets over loopback by dgram, and `udp-send`, a datagram that nobody reads.
 */
import dgram from 'node:dgram';
import { once } from 'node:events';
import { endOf } from './ends.js';
import { Failure, giveUp } from './lines.js';
import { everyMessage } from './messages.js';
import { Room, now } from './stamps.js';

/** Datagrams sent beforehand: far more than fit a receive buffer of the least size. */
const FILL = 256;

async function bound() {
  const socket = dgram.createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/**
 * @param {dgram.Socket} socket
 * @param {number} port
 */
async function connect(socket, port) {
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
}

/**
 * By address, because dgram can take over a descriptor (`bind({fd})`) but not that its
 * socket is connected: send() without an address is refused by Node, and with one, as
 * is connect(), by libuv (EISCONN).
 * @param {import('./streams.js').Attaching} attaching
 */
export async function udp(attaching) {
  const { offer, connect: to } = attaching.link;
  const socket = await bound();
  // No callback: one would be called for every message.
  const end = endOf(attaching, (message) => socket.send(message), true);
  const listen = () => {
    socket.on('message', (message) => end.receive(message));
    socket.on('error', (error) => end.lose(error));
  };
  if (to) {
    await connect(socket, Number(to.address.split(':')[1]));
    listen();
    socket.send(Buffer.from(to.token));
    return end;
  }
  const first = once(socket, 'message');
  // It is awaited in `meet`, which reports an error before that.
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

/**
 * The receiver is a socket of the same process whose least receive buffer is full. Node reads every
 * bound socket, but only when its event loop turns, and a phase is one chain of callbacks in the
 * nextTick queue, which runs empty before the loop turns. So the buffer is filled at the beginning of
 * a phase and nobody reads until its end.
 * @param {import('./streams.js').Attaching} attaching
 */
export async function udpSend({ payload }) {
  const [sender, receiver] = [await bound(), await bound()];
  await connect(sender, receiver.address().port);
  await connect(receiver, sender.address().port);
  sender.on('error', giveUp);
  receiver.on('error', giveUp);
  // The kernel raises this to its least.
  receiver.setRecvBufferSize(1);
  const message = everyMessage(payload)[1];
  const room = new Room();
  return {
    /**
     * @param {import('./stamps.js').Order} order
     * @returns {Promise<import('./stamps.js').End>}
     */
    run({ count, stamp }) {
      const n = stamp.n ?? 1;
      // Lengths of the batches, in turn.
      const batches = stamp.kind === 'two-lengths' ? [n, 2 * n] : [n, n];
      const pair = batches[0] + batches[1];
      const samples = 2 * Math.floor(count / pair) + (count % pair === 0 ? 0 : 1);
      room.reserve(2 * samples);
      const { stamps } = room;
      return new Promise((resolve) => {
        let [left, at] = [FILL, 0];
        const sent = (/** @type {Error | null} */ error, /** @type {number} */ bytes) => {
          if (error || bytes !== payload) giveUp(error ?? `${bytes} of ${payload} bytes were sent`);
          left -= 1;
          if (left === 0) {
            // The filling ends with no stamp, every batch with one.
            if (at > 0) stamps[at++] = now();
            if (at === 2 * samples && at > 0) return finish();
            left = batches[(at >> 1) & 1];
            stamps[at++] = now();
          }
          sender.send(message, sent);
        };
        const finish = () => resolve({ role: 'caller', count, taken: room.take(samples, 2) });
        if (count === 0) return finish();
        sender.send(message, sent);
      });
    },
  };
}
