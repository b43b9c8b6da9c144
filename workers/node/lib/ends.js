/**
 * The two ends of a round trip. Where the API is event-driven, the loop is in the handler of the
 * message, and there is no promise and no timer per message; where it blocks, the loop is one.
 */
import { giveUp } from './lines.js';
import { everyMessage, notTheMessage, spoiling } from './messages.js';
import { Room, now } from './stamps.js';

/** Exchanges before the first stamp of a phase. */
const LEAD_IN = 2;

/**
 * @typedef {import('./streams.js').Attaching} Seat
 * @typedef {import('./stamps.js').Order} Order
 * @typedef {import('./stamps.js').End} End
 */

/** What both event-driven ends have in common: whether a phase is on, and why the link is over. */
class Party {
  /** The number of the next message of the caller. */
  sequence = 1;
  /** Exchanges done and to do in this phase. */
  done = 0;
  total = 0;
  /** @type {((end: End) => void) | undefined} called at the end of the phase */
  finished;
  /** @type {Error | undefined} */
  over;

  /**
   * @param {Seat} seat
   * @param {(message: Buffer) => void} send
   */
  constructor(seat, send) {
    this.messages = everyMessage(seat.payload);
    this.last = this.messages.length - 1;
    this.payload = seat.payload;
    this.send = spoiling(send, seat);
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
   * end may have stopped first.
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
class Caller extends Party {
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
   * @param {Order} order
   * @returns {Promise<End>}
   */
  run({ count, stamp }) {
    this.step = stamp.n ?? 1;
    this.count = count;
    this.room.reserve(count / this.step + 1);
    [this.nextStamp, this.at] = [LEAD_IN, 0];
    const done = this.start(count);
    this.send(this.messages[this.sequence & this.last]);
    return done;
  }

  /**
   * A whole message has come.
   * @param {Uint8Array} message
   */
  receive(message) {
    const { sequence, last } = this;
    if (!this.finished || !this.messages[(sequence + 1) & last].equals(message)) {
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

/** Sends each message of a load at its time, whatever the other end does. */
class Sender extends Caller {
  late = new Uint8Array(0);

  /**
   * One phase; in the pilot it goes through the times alone.
   * @param {Order} order
   * @returns {Promise<End>}
   */
  run({ phase, count, times }) {
    this.room.reserve(count);
    this.late = new Uint8Array(count);
    [this.times, this.count, this.at, this.alone] = [times, count, 0, phase === 'pilot'];
    const done = this.start(count);
    if (this.alone) this.begin();
    else this.send(this.messages[this.sequence & this.last]);
    return done;
  }

  /**
   * An answer of the lead-in has come.
   * @param {Uint8Array} message
   */
  receive(message) {
    const { sequence, last } = this;
    if (!this.messages[(sequence + 1) & last].equals(message) || this.done === LEAD_IN) {
      return this.refuse(message.length);
    }
    this.sequence = sequence + 2;
    this.done += 1;
    if (this.done === LEAD_IN) this.begin();
    else this.send(this.messages[this.sequence & last]);
  }

  begin() {
    this.first = now();
    this.next();
  }

  /** Sends the next message when it is due; between two the event loop has its turn. */
  next() {
    const { at, times, room } = this;
    const due = this.first + times[at];
    let stamp = now();
    if (stamp > due) this.late[at] = 1;
    while (stamp < due) stamp = now();
    room.stamps[at] = stamp;
    if (!this.alone) {
      this.send(this.messages[this.sequence & this.last]);
      this.sequence += 2;
    }
    this.at = at + 1;
    if (this.at < this.count) return void setImmediate(() => this.next());
    const taken = room.stamped(this.count, this.first, this.late);
    this.finished?.({ role: 'caller', count: this.count, taken });
  }
}

/** Answers. */
class Callee extends Party {
  /** @type {Uint8Array[]} messages of the next phase, which the caller has begun first */
  early = [];

  /**
   * @param {Seat} seat
   * @param {(message: Buffer) => void} send
   * @param {boolean} mayRepeat whether messages can be lost, and then come again
   */
  constructor(seat, send, mayRepeat) {
    super(seat, send);
    this.mayRepeat = mayRepeat;
  }

  /** The number of the message that has to come next. */
  expected() {
    return this.sequence;
  }

  /**
   * One phase.
   * @param {Order} order
   * @returns {Promise<End>}
   */
  run(order) {
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
    if (!this.messages[sequence & last].equals(message)) return this.answerAgain(message);
    this.answer();
    this.sequence = sequence + 2;
    this.done += 1;
    if (this.done === this.total) this.finished({ role: 'callee', count: this.total - LEAD_IN });
  }

  /** What is done with a message that is right. */
  answer() {
    this.send(this.messages[(this.sequence + 1) & this.last]);
  }

  /**
   * Another message than the next one has come.
   * @param {Uint8Array} message
   */
  answerAgain(message) {
    const { sequence, last } = this;
    if (this.mayRepeat && sequence > 1 && this.messages[(sequence - 2) & last].equals(message)) {
      return this.send(this.messages[(sequence - 1) & last]);
    }
    return this.refuse(message.length);
  }
}

/** Stamps each message of a load when it has come. */
class Receiver extends Callee {
  room = new Room();

  /**
   * One phase; in the pilot nothing comes.
   * @param {Order} order
   * @returns {Promise<End>}
   */
  async run(order) {
    const { phase, count } = order;
    if (phase === 'pilot') return { role: 'callee', count };
    this.room.reserve(count);
    const done = await super.run(order);
    return { ...done, taken: this.room.stamped(count, this.room.stamps[0]) };
  }

  /** What is done with a message that is right. */
  answer() {
    if (this.done < LEAD_IN) super.answer();
    else this.room.stamps[this.done - LEAD_IN] = now();
  }
}

/**
 * The event-driven end of a seat.
 * @param {Seat} seat
 * @param {(message: Buffer) => void} send
 * @param {boolean} [mayRepeat]
 */
export function endOf(seat, send, mayRepeat = false) {
  const [Asking, Answering] = seat.workload === 'load' ? [Sender, Receiver] : [Caller, Callee];
  return seat.role === 'caller' ? new Asking(seat, send) : new Answering(seat, send, mayRepeat);
}

/** An end where sending and receiving block the thread. */
export class BlockingEnd {
  /** The number of the next message of the caller. */
  sequence = 1;
  room = new Room();

  /**
   * @param {Seat} seat
   * @param {(message: Buffer) => void} send
   * @param {() => Uint8Array} receive the next message, lent until the next call
   */
  constructor(seat, send, receive) {
    this.role = seat.role;
    this.messages = everyMessage(seat.payload);
    this.last = this.messages.length - 1;
    this.payload = seat.payload;
    this.send = spoiling(send, seat);
    this.receive = receive;
  }

  /**
   * Receives message `number`, and no other.
   * @param {number} number
   */
  expect(number) {
    const message = this.receive();
    if (!this.messages[number & this.last].equals(message)) {
      throw notTheMessage(number, message.length, this.payload);
    }
  }

  /**
   * One phase; it returns when the phase is over.
   * @param {Order} order
   * @returns {End}
   */
  run({ count, stamp }) {
    if (this.role === 'caller') return this.ask(count, stamp.n ?? 1);
    for (let left = count + LEAD_IN; left > 0; left -= 1) {
      this.expect(this.sequence);
      this.send(this.messages[(this.sequence + 1) & this.last]);
      this.sequence += 2;
    }
    return { role: 'callee', count };
  }

  /**
   * @param {number} count
   * @param {number} step operations between two stamps
   * @returns {End}
   */
  ask(count, step) {
    this.room.reserve(count / step + 1);
    const { stamps } = this.room;
    let [nextStamp, at] = [LEAD_IN, 0];
    for (let done = 1; done <= count + LEAD_IN; done += 1) {
      this.send(this.messages[this.sequence & this.last]);
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
