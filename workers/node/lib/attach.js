/**
 * From `attach` to the reply of a `run`.
 */
import { parseCase, payloadOf, waitOf } from './case.js';
import { Failure, inherited, writeAll } from './lines.js';
import { find } from './mechanisms.js';
import { threadId } from './threads.js';

/**
 * @typedef {object} Attaching what a mechanism is told
 * @property {import('./case.js').Case} of
 * @property {{role: 'caller' | 'callee', link?: any}} seat the first
 * @property {'caller' | 'callee'} role its role
 * @property {number} payload
 *
 * @typedef {object} Played what a mechanism gives back
 * @property {(order: import('./stamps.js').Order) => any} run ends of a phase, one or several
 * @property {number[]} [tids] of its seats, where they are not all this thread
 * @property {string} [offers]
 * @property {() => Promise<void>} [meet]
 */

/**
 * Whether a row has what a case asks for.
 * @param {any} row
 * @param {import('./case.js').Case} of
 * @param {{role: 'caller' | 'callee'}[]} seats
 */
function refuse(row, of, seats) {
  if (!row.workloads.includes(of.workload)) {
    throw new Failure(`\`${row.name}\` takes no part in a \`${of.workload}\``);
  }
  if (of.workload === 'call') {
    if (seats.length === 1 && seats[0].role === 'caller') return;
    throw new Failure('a call has one seat, the caller');
  }
  if (!row.boundaries.includes(of.keys.boundary)) {
    throw new Failure(`\`${row.name}\` does not cross \`${of.keys.boundary}\``);
  }
  for (const { role } of seats) {
    if (!row.waits.includes(waitOf(of, role))) {
      throw new Failure(`\`${row.name}\` cannot wait by \`${waitOf(of, role)}\``);
    }
  }
  const roles = seats.map((seat) => seat.role).join(' and ');
  const fits = of.keys.boundary === 'thread' ? ['caller and callee'] : ['caller', 'callee'];
  if (!fits.includes(roles)) {
    throw new Failure(`with boundary=${of.keys.boundary} this worker does not play ${roles || 'no end'}`);
  }
}

/** A trial, attached. */
export class Trial {
  /**
   * @param {any} command
   */
  static async attach(command) {
    const of = parseCase(command.case);
    const seats = Array.isArray(command.seats) ? command.seats : [];
    const mechanism = find(of.mechanism);
    refuse(mechanism.row, of, seats);
    const samples = command.samples_fd == null ? undefined : inherited(command.samples_fd);
    const [seat] = seats;
    const payload = payloadOf(of, mechanism.row);
    const played = await mechanism.attach({ of, seat, role: seat.role, payload });
    return new Trial(seats, played, samples);
  }

  /**
   * @param {{role: 'caller' | 'callee'}[]} seats
   * @param {Played} played
   * @param {number | undefined} samples descriptor
   */
  constructor(seats, played, samples) {
    this.seats = seats;
    this.played = played;
    this.samples = samples;
  }

  /** What became of the seats. */
  attached() {
    const { tids, offers } = this.played;
    return this.seats.map(({ role }, at) => ({ role, tid: tids?.[at] ?? threadId(), offers }));
  }

  async meet() {
    if (!this.played.meet) throw new Failure('no end of this worker offers an address');
    await this.played.meet();
  }

  /**
   * Plays a phase, hands over its samples, and says what the ends saw.
   * @param {import('./stamps.js').Order} order
   */
  async run(order) {
    const played = [await this.played.run(order)].flat();
    const keeps = order.phase === 'measure' && this.samples !== undefined;
    return played.map(({ role, count, taken }) => {
      if (!taken) return { role, count, samples: 0, max_ticks: 0, elapsed_ticks: 0 };
      if (keeps) writeAll(this.samples, taken.bytes);
      const samples = keeps ? taken.samples : 0;
      return { role, count, samples, max_ticks: taken.max, elapsed_ticks: taken.elapsed };
    });
  }
}
