/**
 * `message-channel-sync`: a MessageChannel whose messages are fetched by
 * receiveMessageOnPort() after sleeping in Atomics.wait(): the pattern by which
 * libraries make asynchronous work in another thread look synchronous.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import { BlockingEnd } from '../blocking.js';
import { besideCallee, bells } from '../threads.js';

export const row = {
  name: 'message-channel-sync',
  family: 'node',
  about: 'a MessageChannel between two worker_threads: postMessage() and Atomics.notify(), Atomics.wait() and receiveMessageOnPort()',
  workloads: ['roundtrip'],
  boundaries: ['thread'],
  waits: ['block'],
  revision: 3,
  payload: { min: 0, max: 1 << 20, default: 64 },
  crosses: 'a Uint8Array, as bytes of the structured clone algorithm through a queue of the other port; and a counter in shared memory',
  copies: "structured clone, twice a message: the sender's array into the serialised message, from there into a new array of the receiver",
  wakes: "Atomics.notify, by a condition variable of V8; postMessage also writes to the eventfd of the receiver's event loop, but once only, because nobody reads it",
  between_stamps: 'serialise, queue, count, notify, look at the own port, sleep in Atomics.wait, be woken, look again, deserialise, comparison; the same in the other thread',
  limits: '0 bytes to 1 MiB; the event loops of both threads stand still meanwhile',
  sources: ['https://nodejs.org/api/worker_threads.html#workerreceivemessageonportport', 'futex(2)'],
};

/**
 * @param {'caller' | 'callee'} role
 * @param {import('../threads.js').ThreadLink} link
 */
function over(role, link) {
  const { port } = link;
  const { ring, sleep } = bells(role, link);
  return new BlockingEnd(role, link.payload, {
    send(message) {
      port.postMessage(message);
      ring();
    },
    receive() {
      for (;;) {
        const received = receiveMessageOnPort(port);
        if (received !== undefined) return received.message;
        sleep();
      }
    },
  });
}

/** @param {import('../attach.js').Attaching} attaching */
export function attach(attaching) {
  return besideCallee(attaching, (link) => over('caller', link));
}

/**
 * The other thread's end.
 * @param {import('../threads.js').ThreadLink} link
 */
export function callee(link) {
  return over('callee', link);
}
