/**
 * The contents of messages, which come again after some numbers: made beforehand,
 * sent as they are, and compared as a whole.
 */
import { endianness } from 'node:os';
import { Failure } from './lines.js';

const GOLDEN = 0x9e3779b97f4a7c15n;

/**
 * Every message of this length, by its number modulo how many there are, a power of two. Each has
 * an ArrayBuffer of its own, because postMessage() copies the whole of the one behind a view.
 * @param {number} payload bytes
 * @returns {Buffer[]}
 */
export function everyMessage(payload) {
  if (endianness() !== 'LE') throw new Failure('this worker needs a little-endian machine');
  let contents = 256;
  while (contents > 4 && contents * payload > 16 * 1024) contents /= 2;
  const words = new Uint32Array(2 * Math.ceil(payload / 8));
  const bytes = new Uint8Array(words.buffer, 0, payload);
  return Array.from({ length: contents }, (_, number) => {
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

/** Why a message of `got` bytes is not message `number` of `want` bytes. */
export function notTheMessage(number, got, want) {
  return new Failure(
    got === want
      ? `message ${number} did not arrive as it was sent`
      : `message ${number} arrived with ${got} bytes instead of ${want}`,
  );
}

/**
 * The `send` of an end, which changes a byte of message `spoil`, if that is one of its own.
 * @param {(message: Buffer) => void} send
 * @param {{role: 'caller' | 'callee', spoil?: number}} seat
 */
export function spoiling(send, { role, spoil }) {
  if (!spoil || (spoil % 2 === 1) !== (role === 'caller')) return send;
  let number = role === 'caller' ? -1 : 0;
  return (/** @type {Buffer} */ message) => {
    number += 2;
    const copy = Buffer.from(message);
    if (number === spoil) copy[0] ^= 1;
    send(copy);
  };
}
