/**
 * The two ends of a round trip where the API is event-driven: the loop is in the
 * handler of the message, and there is no promise and no timer per message.
 */
import { giveUp } from './lines.js';
import { everyMessage, notTheMessage, same } from './messages.js';
import { Room, now, operationsPerSample } from './stamps.js';

/** Exchanges before the first stamp of a phase. */
export const LEAD_IN = 2;

/**
 * @typedef {object} End what an end says of a phase
 * @property {'caller' | 'callee'} role
 * @property {number} count
 * @property {import('./stamps.js').Taken} [taken]
 */

/** What both ends have in common: whether a phase is on, and why the link is over. */
class Party {
  /** The number of the next message of the caller. */
  sequence = 1;
  /** Exchanges done and to do in this phase. */
  done = 0;
  total = 0;
  /** @type {((end: End) => void) | undefined} told at the end of the phase */
  finished;
  /** @type {Error | undefined} */
  over;

  /**
   * @param {number} payload
   * @param {(message: Buffer) => void} send
   */
  constructor(payload, send) {
    this.messages = everyMessage(payload);
    this.last = this.messages.length - 1;
    this.payload = payload;
    this.send = send;
  }

  /**
   * Another message than the expected one has come.
   * @param {number} got bytes
   */
  refuse(got) {
    this.lose(notTheMessage(this.expected(), got, this.payload));
  }

  /**
   * The link is of no use any more. Between phases that is no failure: the other
   * end may have been told to stop first.
   * @param {Error} error
   */
  lose(error) {
    this.over ??= error;
    if (this.finished) giveUp(this.over);
  }

  /**
   * Begins a phase.
   * @param {number} count
   * @returns {Promise<End>}
   */
  start(count) {
    if (this.over) throw this.over;
    [this.done, this.total] = [0, count + LEAD_IN];
    return new Promise((resolve) => {
      this.finished = (end) => {
        this.finished = undefined;
        resolve(end);
      };
    });
  }
}

/** Asks, and stamps. */
export class Caller extends Party {
  room = new Room();
  step = 1;
  nextStamp = 0;
  at = 0;
  count = 0;

  /** The number of the message that has to come next. */
  expected() {
    return this.sequence + 1;
  }

  /**
   * One phase.
   * @param {import('./stamps.js').Order} order
   * @returns {Promise<End>}
   */
  run(order) {
    this.step = operationsPerSample(order);
    this.count = order.count;
    this.room.reserve(order.count / this.step + 1);
    [this.nextStamp, this.at] = [LEAD_IN, 0];
    const done = this.start(order.count);
    this.send(this.messages[this.sequence & this.last]);
    return done;
  }

  /**
   * A whole message has come.
   * @param {Uint8Array} message
   */
  receive(message) {
    const { sequence, last } = this;
    if (!this.finished || !same(message, this.messages[(sequence + 1) & last])) {
      return this.refuse(message.length);
    }
    this.sequence = sequence + 2;
    this.done += 1;
    if (this.done === this.nextStamp) {
      this.room.stamps[this.at] = now();
      this.at += 1;
      this.nextStamp += this.step;
      if (this.done === this.total) {
        const taken = this.room.take(this.at - 1, 1);
        return this.finished({ role: 'caller', count: this.count, taken });
      }
    }
    this.send(this.messages[(sequence + 2) & last]);
  }
}

/** Answers. */
export class Callee extends Party {
  /** @type {Uint8Array[]} messages of the next phase, which the caller has begun first */
  early = [];

  /**
   * @param {number} payload
   * @param {(message: Buffer) => void} send
   * @param {{mayRepeat?: boolean}} [link] whether messages can be lost, and then come again
   */
  constructor(payload, send, { mayRepeat = false } = {}) {
    super(payload, send);
    this.mayRepeat = mayRepeat;
  }

  /** The number of the message that has to come next. */
  expected() {
    return this.sequence;
  }

  /**
   * One phase.
   * @param {import('./stamps.js').Order} order
   * @returns {Promise<End>}
   */
  run(order) {
    operationsPerSample(order);
    const done = this.start(order.count);
    for (const message of this.early.splice(0)) this.receive(message);
    return done;
  }

  /**
   * A whole message has come.
   * @param {Uint8Array} message
   */
  receive(message) {
    if (!this.finished) return void this.early.push(message);
    const { sequence, last } = this;
    if (!same(message, this.messages[sequence & last])) return this.answerAgain(message);
    this.send(this.messages[(sequence + 1) & last]);
    this.sequence = sequence + 2;
    this.done += 1;
    if (this.done === this.total) this.finished({ role: 'callee', count: this.total - LEAD_IN });
  }

  /**
   * Another message than the next one has come.
   * @param {Uint8Array} message
   */
  answerAgain(message) {
    const { sequence, last } = this;
    if (this.mayRepeat && sequence > 1 && same(message, this.messages[(sequence - 2) & last])) {
      return this.send(this.messages[(sequence - 1) & last]);
    }
    return this.refuse(message.length);
  }
}

/**
 * The end for a role.
 * @param {'caller' | 'callee'} role
 * @param {number} payload
 * @param {(message: Buffer) => void} send
 * @param {{mayRepeat?: boolean}} [link]
 */
export function endOf(role, payload, send, link) {
  return role === 'caller' ? new Caller(payload, send) : new Callee(payload, send, link);
}
