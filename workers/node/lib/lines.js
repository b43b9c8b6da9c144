/**
 * The protocol's lines: commands in, replies out, and the one way to give up.
 */
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The longest line either side accepts, in bytes. */
const LINE_MAX = 256 * 1024;

const STDOUT = 1;

/** An error that is a reason as it is, in one line. */
export class Failure extends Error {}

/** The other end is gone: the reason of the other worker explains more. */
export class PartnerGone extends Failure {}

/** What the system says of a partner that is gone. */
const GONE = ['EPIPE', 'ECONNRESET', 'ECONNREFUSED'];

/** The error of an end whose partner is gone. */
export function closed() {
  return new PartnerGone('the other end closed the link');
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
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
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
 * Reports why the worker cannot go on, and ends it. In another thread than the main one
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
    // Nobody reads.
  }
  process.exit(1);
}

/**
 * Hands on each line of standard input, one after the other has been dealt with.
 * @param {(line: string) => Promise<void>} obey
 */
export async function readLines(obey) {
  let pending = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    pending = Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
      const line = pending.subarray(0, end).toString('utf8').trim();
      pending = pending.subarray(end + 1);
      if (line !== '') await obey(line);
    }
    if (pending.length > LINE_MAX) throw new Failure(`a line is longer than ${LINE_MAX} bytes`);
  }
}
