/** `pipe-sync`: two pipes by fs.readSync() and fs.writeSync(), without the event loop. */
import fs from 'node:fs';
import { BlockingEnd } from '../blocking.js';
import { closed } from '../messages.js';
import { descriptors } from '../stream.js';

export const row = {
  name: 'pipe-sync',
  family: 'pipe',
  about: 'two pipes by fs.readSync and fs.writeSync, which block the thread',
  workloads: ['roundtrip'],
  boundaries: ['process'],
  waits: ['block'],
  revision: 3,
  payload: { min: 1, max: 1 << 20, default: 64 },
  link: 'descriptors',
  carrier: 'pipe',
  peers: 'any',
  crosses: "the message's bytes, through a kernel buffer of 64 KiB per direction",
  copies: "the kernel, twice a message: from the sender's Buffer into the pipe's pages, from there into one Buffer that is used again",
  wakes: 'the kernel wakes the sleeping reader from within write(2)',
  between_stamps: 'writeSync, sleep in readSync, be woken, comparison; on the other side readSync returns, comparison, writeSync',
  limits: '1 byte to 1 MiB; a message over 64 KiB is written and read in parts; the event loop stands still meanwhile',
  sources: ['https://nodejs.org/api/fs.html', 'pipe(7)', 'read(2)', 'write(2)'],
  system_calls: { min: 4, max: 4.1 },
};

/** @param {import('../attach.js').Attaching} attaching */
export function attach({ seat, role, payload }) {
  const [incoming, outgoing] = descriptors(seat, 2);
  const whole = Buffer.alloc(payload);
  return new BlockingEnd(role, payload, {
    send(message) {
      try {
        for (let done = 0; done < payload;) {
          done += fs.writeSync(outgoing, message, done, payload - done);
        }
      } catch (error) {
        throw error.code === 'EPIPE' ? closed() : error;
      }
    },
    receive() {
      for (let done = 0; done < payload;) {
        const got = fs.readSync(incoming, whole, done, payload - done, null);
        if (got === 0) throw closed();
        done += got;
      }
      return whole;
    },
  });
}
