/**
 * Two threads of this process: the caller is the main thread, the callee a worker.
 */
import fs from 'node:fs';
import { MessageChannel, Worker } from 'node:worker_threads';
import { waitOf } from './case.js';
import { Failure, giveUp } from './lines.js';

/**
 * @typedef {object} ThreadLink what the two threads share
 * @property {string} mechanism
 * @property {number} payload
 * @property {import('node:worker_threads').MessagePort} port this thread's
 * @property {SharedArrayBuffer} memory room for a message in each direction
 * @property {[number, number]} places where in it the caller's and the callee's messages begin
 * @property {SharedArrayBuffer} control
 * @property {Record<'caller' | 'callee', string>} waits
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
 * @param {'caller' | 'callee'} role
 * @param {ThreadLink} link
 */
export function bells(role, { control, waits }) {
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
      if (Atomics.load(words, FAILED) !== 0) throw new OtherFailed();
    },
  };
}

/** The other end has failed, and will say why itself. */
class OtherFailed extends Failure {
  constructor() {
    super('the other end failed');
  }
}

/**
 * Ends the sleep of the main thread for good.
 * @param {ThreadLink} link
 */
export function wakeInFailure({ control }) {
  const words = new Int32Array(control);
  Atomics.store(words, FAILED, 1);
  Atomics.add(words, RUNG_BY_CALLEE, 1);
  Atomics.notify(words, RUNG_BY_CALLEE);
}

/**
 * The callee in a thread of its own, and the caller in this one.
 * @param {import('./attach.js').Attaching} attaching
 * @param {(link: ThreadLink) => {run: (order: import('./stamps.js').Order) => any}} play
 */
export async function besideCallee({ of, payload }, play) {
  const { port1, port2 } = new MessageChannel();
  const places = placesOf(payload);
  const shared = {
    mechanism: of.mechanism,
    payload,
    memory: new SharedArrayBuffer(places[1] + payload + APART),
    places,
    control: new SharedArrayBuffer(CONTROL_BYTES),
    waits: { caller: waitOf(of, 'caller'), callee: waitOf(of, 'callee') },
  };
  const thread = new Worker(new URL('./callee-thread.js', import.meta.url), {
    workerData: { ...shared, port: port2 },
    transferList: [port2],
  });
  thread.on('error', giveUp);
  thread.on('exit', () => giveUp("the callee's thread ended"));
  const answer = () => new Promise((resolve) => thread.once('message', resolve));
  const { tid } = await answer();
  const caller = play({ ...shared, port: port1 });
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
        if (error instanceof OtherFailed) await answered;
        throw error;
      }
    },
  };
}
