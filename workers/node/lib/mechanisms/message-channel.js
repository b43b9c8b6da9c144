/** `message-channel`: a MessageChannel between two threads, by the message event. */
import { endOf } from '../events.js';
import { besideCallee } from '../threads.js';

export const row = {
  name: 'message-channel',
  family: 'node',
  about: 'a MessageChannel between two worker_threads: postMessage(), and the message event',
  workloads: ['roundtrip'],
  boundaries: ['thread'],
  waits: ['block'],
  revision: 3,
  payload: { min: 0, max: 1 << 20, default: 64 },
  crosses: "a Uint8Array, as bytes of the structured clone algorithm through a queue of the other port",
  copies: "structured clone, twice a message: the sender's array into the serialised message, from there into a new array of the receiver (nothing is put on a transfer list: the message is kept by its sender)",
  wakes: "libuv: uv_async_send writes to an eventfd of the receiver's event loop and wakes its epoll_wait",
  between_stamps: 'serialise, queue, write the eventfd, turn of the event loop, epoll_wait, deserialise, message event, comparison; the same in the other thread',
  limits: '0 bytes to 1 MiB; both threads have an isolate, a heap and an event loop of their own, and share four threads of V8',
  sources: ['https://nodejs.org/api/worker_threads.html#class-messagechannel', 'eventfd(2)', 'epoll(7)'],
  system_calls: { min: 6, max: 9 },
};

/**
 * An end over a port.
 * @param {'caller' | 'callee'} role
 * @param {{payload: number, port: import('node:worker_threads').MessagePort}} link
 */
function over(role, { payload, port }) {
  const end = endOf(role, payload, (message) => port.postMessage(message));
  port.on('message', (message) => end.receive(message));
  return end;
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
