/** What this worker says of itself. */
import fs from 'node:fs';
import { mechanisms } from './mechanisms.js';

/** Spoken version of the protocol. */
const PROTOCOL = 3;

const REMARKS = [
  'JavaScript runs in one thread for each seat; V8 compiles while it runs, so warm-ups last until the numbers no longer change',
  'V8 keeps threads of its own for compiling and collecting garbage, and libuv up to four for the file system and name look-ups; nothing here uses those of libuv',
  'sockets and pipes are non-blocking and waited for in the event loop: every message is a turn of it (epoll_wait), and allocates; the -sync mechanisms and shared-array-buffer block instead',
  'each wait of the event loop is one epoll_pwait that does not wait, by which Node knows how long it idles, and another one that does where the first found nothing',
  'a message is compared by Buffer.equals(), which is a memcmp(3) behind a call out of JavaScript',
];

/**
 * The `version` in a package.json, if it is there.
 * @param {string} path from this file
 */
function versionIn(path) {
  try {
    return String(JSON.parse(fs.readFileSync(new URL(path, import.meta.url), 'utf8')).version);
  } catch {
    return undefined;
  }
}

/** The reply to `describe`. */
export function describe() {
  const ws = versionIn('../node_modules/ws/package.json');
  const { node, v8, uv } = process.versions;
  return {
    is: 'described',
    protocol: PROTOCOL,
    runtime: 'node',
    version: versionIn('../package.json') ?? '0',
    libraries: { node, v8, uv, ...(ws && { ws }) },
    remarks: REMARKS,
    clock: { source: 'CLOCK_MONOTONIC', ticks_per_second: 1e9 },
    warm_up: 'until-steady',
    mechanisms: mechanisms.map(({ row: { name, revision } }) =>
      name === 'websocket' && ws === undefined
        ? { name, revision, unavailable: 'the library ws is not installed: run scripts/setup workers node' }
        : { name, revision },
    ),
  };
}
