/**
 * Mechanisms between two threads of this process, `shared-array-buffer`, `message-channel` and
 * `message-channel-sync`: the caller is the main thread, the callee a worker, which runs this file.
 */
import fs from 'node:fs';
import { MessageChannel, Worker, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { BlockingEnd, endOf } from './ends.js';
import { Failure, giveUp } from './lines.js';

/**
 * What a thread gets of `attach`, its port, room for a message in each direction, where in it those of
 * the caller and of the callee begin, and the counters.
 * @typedef {import('./streams.js').Attaching & {port: import('node:worker_threads').MessagePort,
 *   memory: SharedArrayBuffer, places: [number, number], control: SharedArrayBuffer}} ThreadLink
 */

/**
 * Bytes between what one thread writes and what the other does: two cache lines, because some
 * processors fetch them in pairs.
 */
const APART = 128;

// Places in the control memory, as far apart from each other and from whatever is before and behind.
const [RUNG_BY_CALLER, RUNG_BY_CALLEE, FAILED] = [1, 2, 3].map((place) => (place * APART) / 4);
const CONTROL_BYTES = 4 * APART;

/**
 * Where the messages of either direction begin, so that they share no cache line.
 * @param {number} payload bytes
 * @returns {[number, number]}
 */
export function placesOf(payload) {
  return [APART, 2 * APART + Math.ceil(payload / APART) * APART];
}

/** The kernel's id of the calling thread. */
export function threadId() {
  return Number(fs.readlinkSync('/proc/thread-self').split('/').pop());
}

/**
 * The two counters that the ends wake each other by.
 * @param {ThreadLink} link
 */
function bells({ role, control, waits }) {
  const words = new Int32Array(control);
  const [mine, theirs] =
    role === 'caller' ? [RUNG_BY_CALLER, RUNG_BY_CALLEE] : [RUNG_BY_CALLEE, RUNG_BY_CALLER];
  const spins = waits[role] === 'spin';
  const notifies = waits[role === 'caller' ? 'callee' : 'caller'] !== 'spin';
  let heard = 0;
  return {
    /** Counts, and wakes the other end. */
    ring() {
      Atomics.add(words, mine, 1);
      if (notifies) Atomics.notify(words, mine, 1);
    },
    /** Returns when the other end has rung since it did so last. */
    sleep() {
      while (Atomics.load(words, theirs) === heard) {
        if (!spins) Atomics.wait(words, theirs, heard);
      }
      heard = Atomics.load(words, theirs);
      if (Atomics.load(words, FAILED) !== 0) throw OTHER_FAILED;
    },
  };
}

/** The other end gives its reason itself. */
const OTHER_FAILED = new Failure('the other end failed');

/** How each mechanism makes an end. */
const ENDS = {
  /**
   * A SharedArrayBuffer, handed over by Atomics.
   * @param {ThreadLink} link
   */
  'shared-array-buffer'(link) {
    const [first, second] = link.places.map((at) => Buffer.from(link.memory, at, link.payload));
    const [outgoing, incoming] = link.role === 'caller' ? [first, second] : [second, first];
    const { ring, sleep } = bells(link);
    return new BlockingEnd(
      link,
      (message) => {
        outgoing.set(message);
        ring();
      },
      () => {
        sleep();
        return incoming;
      },
    );
  },
  /**
   * A MessageChannel, by the message event.
   * @param {ThreadLink} link
   */
  'message-channel'(link) {
    const end = endOf(link, (message) => link.port.postMessage(message));
    link.port.on('message', (message) => end.receive(message));
    return end;
  },
  /**
   * A MessageChannel whose messages are fetched by receiveMessageOnPort() after sleeping in
   * Atomics.wait(): the pattern by which libraries make asynchronous work in another thread look
   * synchronous.
   * @param {ThreadLink} link
   */
  'message-channel-sync'(link) {
    const { port } = link;
    const { ring, sleep } = bells(link);
    return new BlockingEnd(
      link,
      (message) => {
        port.postMessage(message);
        ring();
      },
      () => {
        for (;;) {
          const received = receiveMessageOnPort(port);
          if (received !== undefined) return received.message;
          sleep();
        }
      },
    );
  },
};

/**
 * The callee in a thread of its own, and the caller in this one.
 * @param {import('./streams.js').Attaching} attaching
 */
export async function besideCallee({ mechanism, payload, spoil, waits }) {
  const { port1, port2 } = new MessageChannel();
  const places = placesOf(payload);
  const memory = new SharedArrayBuffer(places[1] + payload + APART);
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  const shared = { mechanism, payload, spoil, waits, places, memory, control };
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { ...shared, role: 'callee', port: port2 },
    transferList: [port2],
  });
  thread.on('error', giveUp);
  thread.on('exit', () => giveUp("the callee's thread ended"));
  const answer = () => new Promise((resolve) => thread.once('message', resolve));
  const { tid } = await answer();
  const caller = ENDS[mechanism]({ ...shared, role: 'caller', port: port1 });
  return {
    tids: [threadId(), tid],
    /** @param {import('./stamps.js').Order} order */
    async run(order) {
      const answered = answer();
      thread.postMessage(order);
      try {
        const asked = await caller.run(order);
        return [asked, await answered];
      } catch (error) {
        // Then the error of the thread comes, and ends the process.
        if (error === OTHER_FAILED) await answered;
        throw error;
      }
    },
  };
}

/** The thread of a callee: plays a phase whenever the main thread has one. */
if (workerData?.role === 'callee') {
  const callee = ENDS[workerData.mechanism](workerData);
  parentPort.on('message', async (order) => {
    try {
      parentPort.postMessage(await callee.run(order));
    } catch (error) {
      // Ends the sleep of the main thread for good.
      const words = new Int32Array(workerData.control);
      Atomics.store(words, FAILED, 1);
      Atomics.add(words, RUNG_BY_CALLEE, 1);
      Atomics.notify(words, RUNG_BY_CALLEE);
      throw error;
    }
  });
  parentPort.postMessage({ tid: threadId() });
}
