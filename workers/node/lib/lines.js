/**
 * The protocol's lines: commands in, replies out, and the one way to give up.
 */
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The longest line either side accepts, in bytes. */
export const LINE_MAX = 256 * 1024;

const STDOUT = 1;

/** An error that is said as it is, in one line. */
export class Failure extends Error {}

/** The other end is gone: what the other worker says explains more. */
export class PartnerGone extends Failure {}

/** What the system says of a partner that is gone. */
const GONE = ['EPIPE', 'ECONNRESET', 'ECONNREFUSED'];

/**
 * Sleeps without turning the event loop.
 * @param {number} ms
 */
function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Writes all bytes to a descriptor before it returns.
 * @param {number} fd
 * @param {Uint8Array} bytes
 */
export function writeAll(fd, bytes) {
  for (let done = 0; done < bytes.length;) {
    try {
      done += fs.writeSync(fd, bytes, done, bytes.length - done);
    } catch (error) {
      // Standard output may be the same open file as standard input, which Node has
      // made non-blocking.
      if (error.code !== 'EAGAIN') throw error;
      sleep(1);
    }
  }
}

/**
 * Answers a command.
 * @param {object} reply
 */
export function answer(reply) {
  writeAll(STDOUT, Buffer.from(`${JSON.stringify(reply)}\n`));
}

/**
 * Says why the worker cannot go on, and ends it. In another thread than the main one
 * process.exit() would end that thread alone, so there the error is thrown: uncaught,
 * it becomes the main thread's.
 * @param {unknown} error
 * @returns {never}
 */
export function giveUp(error) {
  if (!isMainThread) throw error;
  const text = error instanceof Error ? error.message : String(error);
  const reason = text.replace(/\s+/g, ' ').slice(0, 1000) || 'no reason was given';
  const gone = error instanceof PartnerGone || GONE.includes(error?.code);
  try {
    answer({ is: 'failed', reason, ...(gone && { cause: 'partner-gone' }) });
  } catch {
    // Nobody reads; there is nobody to tell.
  }
  process.exit(1);
}

/**
 * Hands on each line of standard input, one after the other has been dealt with.
 * @param {(line: string) => Promise<void>} obey
 */
export async function readLines(obey) {
  /** @type {Buffer[]} */
  let parts = [];
  let length = 0;
  const tooLong = () => new Failure(`a line is longer than ${LINE_MAX} bytes`);
  for await (const chunk of process.stdin) {
    let rest = /** @type {Buffer} */ (chunk);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]);
      rest = rest.subarray(end + 1);
      [parts, length] = [[], 0];
      if (line.length > LINE_MAX) throw tooLong();
      const text = line.toString('utf8').trim();
      if (text !== '') await obey(text);
    }
    parts.push(rest);
    length += rest.length;
    if (length > LINE_MAX) throw tooLong();
  }
}

/**
 * Checks that a descriptor was inherited.
 * @param {unknown} fd
 * @returns {number}
 */
export function inherited(fd) {
  if (Number.isInteger(fd) && Number(fd) > 2 && Number(fd) < 2 ** 31) {
    try {
      fs.fstatSync(Number(fd));
      return Number(fd);
    } catch {
      // Said below.
    }
  }
  throw new Failure(`descriptor ${fd} was not inherited`);
}
