/**
 * The clock, and the room that stamps are taken into.
 *
 * `performance.now()` is uv_hrtime(), nanoseconds of CLOCK_MONOTONIC, less an origin
 * that no difference sees, as milliseconds in a double: exact to the nanosecond for
 * fifty days. It costs less than `process.hrtime.bigint()`, which allocates a BigInt,
 * and than `process.hrtime()`, which allocates an array.
 */
import { performance } from 'node:perf_hooks';

const NS_PER_MS = 1e6;
const PAIRS = 10_000;

/** CLOCK_MONOTONIC at that origin, in nanoseconds: read between two looks that are as close as can be. */
const ORIGIN_NS = (() => {
  let [closest, origin] = [Infinity, 0];
  for (let tries = 0; tries < 1000; tries += 1) {
    const before = now();
    const clock = Number(process.hrtime.bigint());
    const after = now();
    if (after - before < closest) {
      [closest, origin] = [after - before, clock - ((before + after) / 2) * NS_PER_MS];
    }
  }
  return origin;
})();

/** Now, in milliseconds. */
export function now() {
  return performance.now();
}

/**
 * @typedef {{kind: 'each'} | {kind: 'batch', n: number} | {kind: 'two-lengths', n: number}} Stamp
 * @typedef {{phase: string, count: number, stamp: Stamp, times?: Float64Array}} Order `times` of a load's
 *   sender: when to send each message, in milliseconds from the first stamp
 * @typedef {object} Taken what a phase's stamps amount to, in nanoseconds
 * @property {number} samples
 * @property {number} max
 * @property {number} elapsed the sum of all samples
 * @property {Buffer} bytes the samples as they are handed over
 * @property {number} [first_tick] of a load
 * @property {number} [overruns]
 * @typedef {object} End what an end reports of a phase
 * @property {'caller' | 'callee'} role
 * @property {number} count
 * @property {Taken} [taken]
 */

/** Room for stamps, kept from phase to phase: every phase runs the same code. */
export class Room {
  /** Stamps in milliseconds, in time order. */
  stamps = new Float64Array(0);

  /**
   * Makes room, and touches it.
   * @param {number} count stamps
   */
  reserve(count) {
    if (this.stamps.length < count) this.stamps = new Float64Array(count).fill(1);
  }

  /**
   * The samples between stamps.
   * @param {number} samples
   * @param {1 | 2} step 1 where the end of one sample is the start of the next, 2
   *   where each has two stamps of its own
   * @returns {Taken}
   */
  take(samples, step) {
    const bytes = Buffer.alloc(8 * samples);
    const halves = new Uint32Array(bytes.buffer, bytes.byteOffset, 2 * samples);
    const ns = (/** @type {number} */ at) => Math.round(this.stamps[at] * NS_PER_MS);
    let [max, elapsed] = [0, 0];
    for (let at = 0; at < samples; at += 1) {
      const ticks = ns(step * at + 1) - ns(step * at);
      halves[2 * at] = ticks % 2 ** 32;
      halves[2 * at + 1] = Math.floor(ticks / 2 ** 32);
      max = Math.max(max, ticks);
      elapsed += ticks;
    }
    return { samples, max, elapsed, bytes };
  }

  /**
   * The stamps of an end of a load, as they are: nanoseconds of CLOCK_MONOTONIC.
   * @param {number} samples
   * @param {number} first where the end began, in milliseconds
   * @param {Uint8Array} [late] 1 for each message that the sender came to late
   * @returns {Taken}
   */
  stamped(samples, first, late) {
    const bytes = Buffer.alloc(8 * samples);
    const halves = new Uint32Array(bytes.buffer, bytes.byteOffset, 2 * samples);
    const ns = (/** @type {number} */ ms) => Math.round(ORIGIN_NS + ms * NS_PER_MS);
    let overruns = 0;
    for (let at = 0; at < samples; at += 1) {
      const stamp = ns(this.stamps[at]);
      halves[2 * at] = stamp % 2 ** 32;
      halves[2 * at + 1] = Math.floor(stamp / 2 ** 32) + (late?.[at] ? 2 ** 31 : 0);
      overruns += late?.[at] ?? 0;
    }
    const elapsed = ns(this.stamps[samples - 1]) - ns(first);
    return { samples, max: 0, elapsed, bytes, first_tick: ns(first), overruns };
  }
}

/** What a stamp costs: the least, the median and the 99th percentile, in nanoseconds. */
export function stampCost() {
  const costs = new Float64Array(PAIRS);
  // Once more than counted, so that the code is compiled as it is in a trial.
  for (let round = 0; round < 10; round += 1) {
    for (let at = 0; at < PAIRS; at += 1) {
      const before = now();
      costs[at] = now() - before;
    }
  }
  costs.sort();
  const at = (/** @type {number} */ share) =>
    Math.round(costs[Math.max(Math.ceil(share * PAIRS), 1) - 1] * NS_PER_MS);
  return { stamp_min_ns: at(0), stamp_p50_ns: at(0.5), stamp_p99_ns: at(0.99) };
}
