/**
 * The contents of messages, which come again after some numbers: made beforehand,
 * sent as they are, and compared as a whole.
 */
import { endianness } from 'node:os';
import { Failure, PartnerGone } from './lines.js';

const GOLDEN = 0x9e3779b97f4a7c15n;

/**
 * After how many numbers messages of this length come again: a power of two.
 * @param {number} payload bytes
 */
export function contents(payload) {
  let count = 256;
  while (count > 4 && count * payload > 16 * 1024) count /= 2;
  return count;
}

/**
 * Every message of this length, by its number modulo `contents`. Each has an ArrayBuffer of
 * its own, because postMessage() copies the whole of the one behind a view.
 * @param {number} payload bytes
 * @returns {Buffer[]}
 */
export function everyMessage(payload) {
  if (endianness() !== 'LE') throw new Failure('this worker needs a little-endian machine');
  const words = new Uint32Array(2 * Math.ceil(payload / 8));
  const bytes = new Uint8Array(words.buffer, 0, payload);
  return Array.from({ length: contents(payload) }, (_, number) => {
    const first = BigInt.asUintN(64, BigInt(number) * GOLDEN);
    let [low, high] = [Number(first & 0xffffffffn), Number(first >> 32n)];
    for (let at = 0; at < words.length; at += 2) {
      words[at] = low;
      words[at + 1] = high;
      low = (low + 1) >>> 0;
      if (low === 0) high = (high + 1) >>> 0;
    }
    const message = Buffer.alloc(payload);
    message.set(bytes);
    return message;
  });
}

/**
 * Whether two messages are the same, in length and in every byte.
 * @param {Uint8Array} message that came
 * @param {Buffer} wanted
 */
export function same(message, wanted) {
  return wanted.equals(message);
}

/**
 * Why a message is not message `number`.
 * @param {number} number
 * @param {number} got bytes
 * @param {number} want bytes
 */
export function notTheMessage(number, got, want) {
  return new Failure(
    got === want
      ? `message ${number} did not arrive as it was sent`
      : `message ${number} arrived with ${got} bytes instead of ${want}`,
  );
}

/** The error of an end whose partner is gone. */
export function closed() {
  return new PartnerGone('the other end closed the link');
}
