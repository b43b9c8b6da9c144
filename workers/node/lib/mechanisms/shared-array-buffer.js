/** `shared-array-buffer`: a SharedArrayBuffer, handed over by Atomics. */
import { BlockingEnd } from '../blocking.js';
import { besideCallee, bells } from '../threads.js';

export const row = {
  name: 'shared-array-buffer',
  family: 'node',
  about: 'a SharedArrayBuffer between two worker_threads: set(), Atomics.add() and Atomics.notify(), Atomics.wait()',
  workloads: ['roundtrip'],
  boundaries: ['thread'],
  waits: ['block', 'spin'],
  revision: 3,
  payload: { min: 1, max: 1 << 20, default: 64 },
  crosses: 'the message in a buffer for each direction, and a counter, in shared memory',
  copies: "the sender, once a message: from its Buffer into the shared one, where the receiver compares it",
  wakes: 'Atomics.notify, by a condition variable of V8 (futexes of glibc); where the other end spins, nobody',
  between_stamps: 'copy in, count, notify, sleep in Atomics.wait, be woken, comparison; the same in the other thread',
  limits: '1 byte to 1 MiB; the event loops of both threads stand still meanwhile',
  sources: ['https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/Atomics', 'futex(2)'],
};

/**
 * @param {'caller' | 'callee'} role
 * @param {import('../threads.js').ThreadLink} link
 */
function over(role, link) {
  const { payload, memory, places } = link;
  const [first, second] = places.map((at) => Buffer.from(memory, at, payload));
  const [outgoing, incoming] = role === 'caller' ? [first, second] : [second, first];
  const { ring, sleep } = bells(role, link);
  return new BlockingEnd(role, payload, {
    send(message) {
      outgoing.set(message);
      ring();
    },
    receive() {
      sleep();
      return incoming;
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
