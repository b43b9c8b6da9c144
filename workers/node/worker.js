/** hopcost's worker in Node.js: speaks workers/PROTOCOL.md on standard input and output. */
import fs from 'node:fs';
import { Failure, answer, giveUp, readLines, writeAll } from './lib/lines.js';
import { stampCost } from './lib/stamps.js';
import { pipe, pipeSync, stream, websocket } from './lib/streams.js';
import { besideCallee, threadId } from './lib/threads.js';
import { udp, udpSend } from './lib/udp.js';

const PROTOCOL = 3;
const CLOCK = { source: 'CLOCK_MONOTONIC', ticks_per_second: 1e9 };

/** How each is attached, and its revision; what it is stands in worker.toml. */
const MECHANISMS = {
  'udp-send': [udpSend, 1],
  'shared-array-buffer': [besideCallee, 3],
  'message-channel': [besideCallee, 3],
  'message-channel-sync': [besideCallee, 3],
  pipe: [pipe, 3],
  'pipe-sync': [pipeSync, 3],
  'unix-stream': [stream, 3],
  udp: [udp, 3],
  tcp: [stream, 3],
  websocket: [websocket, 3],
};

const REMARKS = [
  'JavaScript runs in one thread for each seat; V8 compiles while it runs, so warm-ups last until the numbers no longer change',
  'V8 keeps threads of its own for compiling and collecting garbage, and libuv up to four for the file system and name look-ups; nothing here uses those of libuv',
  'sockets and pipes are non-blocking and waited for in the event loop: every message is a turn of it (epoll_wait), and allocates; the -sync mechanisms and shared-array-buffer block instead',
  'each wait of the event loop is one epoll_pwait that does not wait, by which Node knows how long it idles, and another one that does where the first found nothing',
  'a message is compared by Buffer.equals(), which is a memcmp(3) behind a call out of JavaScript',
];

/** The `version` in a package.json, if it is there. */
function versionIn(path) {
  try {
    return String(JSON.parse(fs.readFileSync(new URL(path, import.meta.url), 'utf8')).version);
  } catch {
    return undefined;
  }
}

function describe() {
  const ws = versionIn('node_modules/ws/package.json');
  const { node, v8, uv } = process.versions;
  const unavailable = 'the library ws is not installed: run scripts/setup workers node';
  return {
    is: 'described',
    protocol: PROTOCOL,
    runtime: 'node',
    version: versionIn('package.json') ?? '0',
    libraries: { node, v8, uv, ...(ws && { ws }) },
    remarks: REMARKS,
    clock: CLOCK,
    warm_up: 'until-steady',
    spoils: true,
    mechanisms: Object.entries(MECHANISMS).map(([name, [, revision]]) => ({
      name,
      revision,
      ...(name === 'websocket' && !ws && { unavailable }),
    })),
  };
}

/** The trial: what plays it (`run`, maybe `tids`, `offers` and `meet`), and where samples go. */
let trial;

async function attach(command) {
  if (!Object.hasOwn(MECHANISMS, command.mechanism)) {
    throw new Failure(`this worker has no mechanism \`${command.mechanism}\``);
  }
  const [seat] = command.seats;
  const [mechanism] = MECHANISMS[command.mechanism];
  const played = await mechanism({ ...command, role: seat.role, link: seat.link });
  trial = { played, samples: command.samples_fd, schedule: command.schedule_fd };
  const { tids, offers } = played;
  const seats = command.seats.map(({ role }, at) => ({ role, tid: tids?.[at] ?? threadId(), offers }));
  return { is: 'attached', pid: process.pid, seats };
}

/** When to send each message of a load, in milliseconds; nothing at any other end. */
function timesOf(count) {
  if (trial.schedule === undefined) return undefined;
  const bytes = Buffer.alloc(8 * count);
  if (fs.readSync(trial.schedule, bytes, 0, bytes.length, 0) < bytes.length) {
    throw new Failure('the schedule is too short');
  }
  return Float64Array.from({ length: count }, (_, at) => Number(bytes.readBigUInt64LE(8 * at)) / 1e6);
}

/** Plays a phase, hands over its samples, and reports what the ends saw. */
async function run(order) {
  const times = timesOf(order.count);
  const ends = [await trial.played.run({ ...order, times })].flat();
  const leaves = order.phase === 'measure' || (times && order.phase === 'pilot');
  const keeps = leaves && trial.samples !== undefined;
  return ends.map(({ role, count, taken }) => {
    if (!taken) return { role, count };
    if (keeps) writeAll(trial.samples, taken.bytes);
    const samples = keeps ? taken.samples : 0;
    const { max, elapsed, first_tick, overruns } = taken;
    return { role, count, samples, max_ticks: max, elapsed_ticks: elapsed, first_tick, overruns };
  });
}

/** The reply to a command. */
async function reply(command) {
  if (!trial && ['run', 'meet'].includes(command.do)) throw new Failure('nothing is attached');
  switch (command.do) {
    case 'describe':
      return describe();
    case 'attach':
      return attach(command);
    case 'meet':
      await trial.played.meet();
      return { is: 'met' };
    case 'clock':
      return { is: 'clock', cpu: command.cpu, runtime: 'node', ...CLOCK, ...stampCost() };
    case 'run':
      return { is: 'ran', ends: await run(command) };
    case 'stop':
      return { is: 'stopped' };
    default:
      throw new Failure(`the command \`${command.do}\` is not possible here`);
  }
}

process.on('uncaughtException', giveUp);
process.on('unhandledRejection', giveUp);
readLines(async (line) => {
  const command = JSON.parse(line);
  answer(await reply(command));
  if (command.do === 'stop') process.exit(0);
}).then(() => process.exit(0), giveUp);
