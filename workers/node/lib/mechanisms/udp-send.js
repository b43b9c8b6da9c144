/**
 * `udp-send`: send a datagram that nobody reads.
 *
 * The receiver is a socket of the same process whose least receive buffer is full.
 * Node reads every bound socket, but only when its event loop turns, and a phase is one
 * chain of callbacks in the nextTick queue, which runs empty before the loop turns. So
 * the buffer is filled at the beginning of a phase and nobody reads until its end.
 */
import dgram from 'node:dgram';
import { once } from 'node:events';
import { giveUp } from '../lines.js';
import { everyMessage } from '../messages.js';
import { Room, now, operationsPerSample } from '../stamps.js';

export const row = {
  name: 'udp-send',
  family: 'call',
  about: 'send a UDP datagram over loopback that nobody reads: dgram send() until its callback',
  workloads: ['call'],
  payload: { min: 0, max: 65_507, default: 64 },
  crosses: 'one datagram, through the loopback device up to the receiving socket, whose full buffer it does not enter',
  copies: "the kernel, once: from the sender's Buffer into a socket buffer, which it then frees",
  wakes: 'nobody',
  between_stamps: 'batches of send() on a connected socket until its callback: the request object, the system call at once, the nextTick queue; no turn of the event loop',
  limits: 'the receiver is a socket of the same process that is not read meanwhile; the drop is cheaper than queueing and being read; firewall rules are part of the number',
  sources: ['https://nodejs.org/api/dgram.html#socketsendmsg-offset-length-port-address-callback', 'udp(7)'],
};

/** Datagrams sent beforehand: far more than fit a receive buffer of the least size. */
const FILL = 256;

async function bound() {
  const socket = dgram.createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/**
 * Lengths of the batches of a phase, in turn.
 * @param {import('../stamps.js').Order} order
 */
function lengths(order) {
  const n = operationsPerSample(order);
  return order.stamp.kind === 'two-lengths' ? [n, 2 * n] : [n, n];
}

/** @param {import('../attach.js').Attaching} attaching */
export async function attach({ payload }) {
  const [sender, receiver] = [await bound(), await bound()];
  sender.connect(receiver.address().port, '127.0.0.1');
  receiver.connect(sender.address().port, '127.0.0.1');
  await Promise.all([once(sender, 'connect'), once(receiver, 'connect')]);
  sender.on('error', giveUp);
  receiver.on('error', giveUp);
  // The kernel raises this to its least.
  receiver.setRecvBufferSize(1);
  const message = everyMessage(payload)[1];
  const room = new Room();
  return {
    /**
     * @param {import('../stamps.js').Order} order
     * @returns {Promise<import('../events.js').End>}
     */
    run(order) {
      const batches = lengths(order);
      const pair = batches[0] + batches[1];
      const samples = 2 * Math.floor(order.count / pair) + (order.count % pair === 0 ? 0 : 1);
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
        const finish = () =>
          resolve({ role: 'caller', count: order.count, taken: room.take(samples, 2) });
        if (order.count === 0) return finish();
        sender.send(message, sent);
      });
    },
  };
}
