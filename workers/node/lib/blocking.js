/**
 * The two ends of a round trip where sending and receiving block the thread.
 */
import { LEAD_IN } from './events.js';
import { everyMessage, notTheMessage, same } from './messages.js';
import { Room, now, operationsPerSample } from './stamps.js';

/**
 * @typedef {object} BlockingLink
 * @property {(message: Buffer) => void} send
 * @property {() => Uint8Array} receive the next message, lent until the next call
 */

/** One end. */
export class BlockingEnd {
  /** The number of the next message of the caller. */
  sequence = 1;
  room = new Room();

  /**
   * @param {'caller' | 'callee'} role
   * @param {number} payload
   * @param {BlockingLink} link
   */
  constructor(role, payload, link) {
    this.role = role;
    this.messages = everyMessage(payload);
    this.last = this.messages.length - 1;
    this.payload = payload;
    this.link = link;
  }

  /**
   * Receives message `number`, and no other.
   * @param {number} number
   */
  expect(number) {
    const message = this.link.receive();
    if (!same(message, this.messages[number & this.last])) {
      throw notTheMessage(number, message.length, this.payload);
    }
  }

  /**
   * One phase; it returns when the phase is over.
   * @param {import('./stamps.js').Order} order
   * @returns {import('./events.js').End}
   */
  run(order) {
    const step = operationsPerSample(order);
    if (this.role === 'caller') return this.ask(order.count, step);
    for (let left = order.count + LEAD_IN; left > 0; left -= 1) {
      this.expect(this.sequence);
      this.link.send(this.messages[(this.sequence + 1) & this.last]);
      this.sequence += 2;
    }
    return { role: 'callee', count: order.count };
  }

  /**
   * @param {number} count
   * @param {number} step operations between two stamps
   * @returns {import('./events.js').End}
   */
  ask(count, step) {
    this.room.reserve(count / step + 1);
    const { stamps } = this.room;
    let [nextStamp, at] = [LEAD_IN, 0];
    for (let done = 1; done <= count + LEAD_IN; done += 1) {
      this.link.send(this.messages[this.sequence & this.last]);
      this.expect(this.sequence + 1);
      this.sequence += 2;
      if (done === nextStamp) {
        stamps[at] = now();
        at += 1;
        nextStamp += step;
      }
    }
    return { role: 'caller', count, taken: this.room.take(at - 1, 1) };
  }
}
