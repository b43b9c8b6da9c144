/** Workers as hopcost starts them, against each other. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../worker.js', import.meta.url));
const SAMPLES = 3;
const TIMEOUT = { timeout: 60_000 };

/** Every worker started, so that one that hangs does not keep the tests from ending. */
const started = [];
after(() => started.forEach((child) => child.kill('SIGKILL')));

/** A worker; `inherited` become its descriptors from 3 on. */
class Worker {
  constructor(inherited = []) {
    this.process = spawn(process.execPath, [WORKER], { stdio: ['pipe', 'pipe', 'inherit', ...inherited] });
    started.push(this.process);
    this.process.stdin.on('error', () => {});
    this.replies = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.exit = once(this.process, 'exit');
  }
  say(command) {
    this.process.stdin.write(`${typeof command === 'string' ? command : JSON.stringify(command)}\n`);
  }
  async hear() {
    const { value } = await this.replies.next();
    return value === undefined ? undefined : JSON.parse(value);
  }
  ask(command) {
    this.say(command);
    return this.hear();
  }
  async fails(reason, cause = undefined) {
    const reply = await this.hear();
    assert.equal(reply?.is, 'failed', JSON.stringify(reply));
    assert.match(reply.reason, reason);
    assert.equal(reply.cause, cause);
    assert.deepEqual(await this.exit, [1, null]);
    assert.equal(await this.hear(), undefined, 'nothing is said after `failed`');
  }
}

/** A directory of its own for a test. */
function scratch(t) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'hopcost-node-'));
  t.after(() => fs.rmSync(directory, { recursive: true }));
  return directory;
}

const opened = (t, file, flags) => {
  const fd = fs.openSync(file, flags);
  t.after(() => fs.closeSync(fd));
  return fd;
};

/** What each end inherits from descriptor 4 on: two FIFOs. */
function pipes(t) {
  const [there, back] = ['there', 'back'].map((name) => path.join(scratch(t), name));
  execFileSync('mkfifo', [there, back]);
  const ends = [[back, there], [there, back]];
  return ends.map((files) => files.map((file) => opened(t, file, 'r+')));
}

/** The same: two ends of a connection. */
async function sockets(t, address) {
  const server = net.createServer({ pauseOnConnect: true }).listen(address);
  t.after(() => server.close());
  await once(server, 'listening');
  const caller = net.connect(typeof address === 'string' ? { path: address } : server.address());
  const [[callee]] = await Promise.all([once(server, 'connection'), once(caller, 'connect')]);
  // Taken over by the workers; here nobody may read from them.
  caller.pause();
  return [[caller], [callee]];
}

const OPEN = {
  pipe: pipes,
  'pipe-sync': pipes,
  tcp: (t) => sockets(t, { port: 0, host: '127.0.0.1' }),
  websocket: (t) => sockets(t, { port: 0, host: '127.0.0.1' }),
  'unix-stream': (t) => sockets(t, path.join(scratch(t), 'socket')),
};

const spelling = (mechanism, payload) =>
  `roundtrip/${mechanism}?payload=${payload}&boundary=process&place=free&wait=block&runtime=node`;

/** Both ends started and attached. */
async function attached(t, mechanism, payload) {
  const halves = await OPEN[mechanism](t);
  const samples = path.join(scratch(t), 'samples');
  const file = opened(t, samples, 'w');
  const workers = halves.map((half) => new Worker([file, ...half]));
  for (const end of halves.flat()) end.destroy?.();
  t.after(() => workers.forEach((worker) => worker.process.kill()));
  ['caller', 'callee'].forEach((role, at) => {
    const link = { fds: halves[at].map((_, index) => SAMPLES + 1 + index) };
    const fd = role === 'caller' ? { samples_fd: SAMPLES } : {};
    workers[at].say({ do: 'attach', case: spelling(mechanism, payload), seats: [{ role, link }], deadline_ms: 60_000, ...fd });
  });
  for (const worker of workers) {
    const reply = await worker.hear();
    assert.equal(reply.is, 'attached', JSON.stringify(reply));
    assert.equal(reply.pid, worker.process.pid);
    assert.equal(reply.seats[0].tid, worker.process.pid);
  }
  return { workers, samples };
}

/** Phases of every kind, and what is said and left of them. */
async function play(workers, samples) {
  let left = 0;
  for (const [phase, count, stamp] of [
    ['pilot', 1, { kind: 'each' }],
    ['warm-up', 30, { kind: 'batch', n: 10 }],
    ['measure', 40, { kind: 'each' }],
    ['measure', 40, { kind: 'batch', n: 20 }],
    ['count', 10, { kind: 'each' }],
  ]) {
    for (const worker of workers) worker.say({ do: 'run', phase, count, stamp });
    const ends = [];
    for (const worker of workers) {
      const reply = await worker.hear();
      assert.equal(reply.is, 'ran', JSON.stringify(reply));
      ends.push(...reply.ends);
    }
    assert.deepEqual(ends.map((end) => [end.role, end.count]), [['caller', count], ['callee', count]]);
    const bytes = fs.readFileSync(samples).subarray(left);
    left += bytes.length;
    const got = Array.from({ length: bytes.length / 8 }, (_, at) => Number(bytes.readBigUInt64LE(8 * at)));
    assert.equal(got.length, phase === 'measure' ? count / (stamp.n ?? 1) : 0);
    assert.equal(ends[0].samples, got.length);
    assert.ok(ends[0].elapsed_ticks > 0);
    if (phase === 'measure') {
      assert.equal(ends[0].elapsed_ticks, got.reduce((sum, ticks) => sum + ticks, 0));
      assert.equal(ends[0].max_ticks, Math.max(...got));
    }
  }
  for (const worker of workers) {
    assert.deepEqual(await worker.ask({ do: 'stop' }), { is: 'stopped' });
    assert.deepEqual(await worker.exit, [0, null]);
  }
}

for (const mechanism of Object.keys(OPEN)) {
  test(`${mechanism} between two processes`, TIMEOUT, async (t) => {
    for (const payload of [1, 64, 200_000]) {
      const { workers, samples } = await attached(t, mechanism, payload);
      await play(workers, samples);
    }
  });
}

for (const mechanism of ['tcp', 'unix-stream', 'websocket']) {
  test(`${mechanism}: an end whose partner dies says so`, TIMEOUT, async (t) => {
    for (const dying of [0, 1]) {
      const { workers } = await attached(t, mechanism, 64);
      const left = workers[1 - dying];
      left.say({ do: 'run', phase: 'measure', count: 1e6, stamp: { kind: 'each' } });
      workers[dying].process.kill('SIGKILL');
      await left.fails(/the other end closed the link|ECONNRESET/, 'partner-gone');
    }
  });
}

test('udp between two processes, by address', TIMEOUT, async (t) => {
  for (const payload of [0, 64, 65_507]) {
    const samples = path.join(scratch(t), 'samples');
    const [caller, callee] = [new Worker([opened(t, samples, 'w')]), new Worker()];
    t.after(() => [caller, callee].forEach((worker) => worker.process.kill()));
    const attach = (role, link) => ({ do: 'attach', case: spelling('udp', payload), seats: [{ role, link }] });
    const offer = { carrier: 'udp', directory: '/nowhere', token: 'hop-4711' };
    const { seats } = await callee.ask(attach('callee', { offer }));
    assert.match(seats[0].offers, /^127\.0\.0\.1:\d+$/);
    callee.say({ do: 'meet' });
    const connect = { carrier: 'udp', address: seats[0].offers, token: 'hop-4711' };
    const reply = await caller.ask({ ...attach('caller', { connect }), samples_fd: SAMPLES });
    assert.equal(reply.is, 'attached', JSON.stringify(reply));
    assert.deepEqual(await callee.hear(), { is: 'met' });
    await play([caller, callee], samples);
  }
});

for (const [mechanism, wait] of [
  ['message-channel', 'block'],
  ['message-channel-sync', 'block'],
  ['shared-array-buffer', 'block'],
  ['shared-array-buffer', 'spin'],
  ['shared-array-buffer', 'block:spin'],
]) {
  test(`${mechanism} between two threads, wait=${wait}`, TIMEOUT, async (t) => {
    for (const payload of [1, 64, 200_000]) {
      const samples = path.join(scratch(t), 'samples');
      const worker = new Worker([opened(t, samples, 'w')]);
      t.after(() => worker.process.kill());
      const reply = await worker.ask({
        do: 'attach',
        case: `roundtrip/${mechanism}?payload=${payload}&boundary=thread&wait=${wait}`,
        seats: [{ role: 'caller' }, { role: 'callee' }],
        samples_fd: SAMPLES,
      });
      assert.equal(reply.is, 'attached', JSON.stringify(reply));
      const tids = reply.seats.map((seat) => seat.tid);
      assert.equal(tids[0], reply.pid);
      assert.ok(tids[1] !== reply.pid && fs.existsSync(`/proc/${reply.pid}/task/${tids[1]}`));
      await play([worker], samples);
    }
  });
}

test('udp-send leaves samples of either length', TIMEOUT, async (t) => {
  for (const payload of [0, 64, 65_507]) {
    const samples = path.join(scratch(t), 'samples');
    const worker = new Worker([opened(t, samples, 'w')]);
    t.after(() => worker.process.kill());
    const seats = [{ role: 'caller' }];
    await worker.ask({ do: 'attach', case: `call/udp-send?payload=${payload}`, seats, samples_fd: SAMPLES });
    for (const [count, stamp, want] of [
      [60, { kind: 'two-lengths', n: 10 }, 4],
      [30, { kind: 'batch', n: 10 }, 3],
      [5, { kind: 'each' }, 5],
    ]) {
      fs.truncateSync(samples);
      const before = fs.statSync(samples).size;
      const { ends } = await worker.ask({ do: 'run', phase: 'measure', count, stamp });
      assert.equal(before, 0);
      assert.equal(ends[0].samples, want);
      assert.equal(ends[0].count, count);
      assert.ok(ends[0].elapsed_ticks > 0 && ends[0].max_ticks <= ends[0].elapsed_ticks);
    }
    await worker.ask({ do: 'stop' });
  }
});

test('what cannot be done is refused in one line', TIMEOUT, async () => {
  const attach = (spelled, ...roles) => ({ do: 'attach', case: spelled, seats: roles.map((role) => ({ role })) });
  for (const [line, reason] of [
    ['what', /not a command/],
    ['null', /not a command/],
    [{ do: 'fly' }, /`fly`/],
    [{ do: 'run', phase: 'pilot', count: 1, stamp: { kind: 'each' } }, /nothing is attached/],
    [attach('roundtrip/pigeon?boundary=process', 'caller'), /no mechanism `pigeon`/],
    [attach('stream/pipe?boundary=process', 'caller'), /no part in a `stream`/],
    [attach('roundtrip/pipe?boundary=thread&wait=block', 'caller', 'callee'), /does not cross `thread`/],
    [attach('roundtrip/pipe?boundary=process&wait=spin', 'caller'), /cannot wait by `spin`/],
    [attach('roundtrip/pipe?boundary=process&wait=block', 'caller'), /0 descriptors instead of 2/],
    [attach('roundtrip/pipe?boundary=process&wait=block'), /does not play no end/],
    [attach('roundtrip/udp?boundary=process&wait=block', 'caller'), /address/],
    [`{"do":"${'x'.repeat(300_000)}`, /longer than/],
    [`{"do":"${'x'.repeat(1_000_000)}`, /longer than/],
  ]) {
    const worker = new Worker();
    worker.say(line);
    await worker.fails(reason);
  }
});

test('it describes itself and its clock, and leaves at the end of its input', TIMEOUT, async () => {
  const worker = new Worker();
  const description = await worker.ask({ do: 'describe' });
  assert.equal(description.protocol, 3);
  assert.equal(description.runtime, 'node');
  assert.equal(description.libraries.node, process.versions.node);
  const names = description.mechanisms.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const mechanism of description.mechanisms) {
    assert.equal(mechanism.unavailable, undefined, mechanism.name);
  }
  const clock = await worker.ask({ do: 'clock', cpu: 0 });
  assert.equal(clock.source, 'CLOCK_MONOTONIC');
  assert.ok(clock.stamp_p50_ns > 0);
  worker.process.stdin.end();
  assert.deepEqual(await worker.exit, [0, null]);
});
