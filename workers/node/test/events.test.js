import assert from 'node:assert/strict';
import test from 'node:test';
import { Callee, Caller } from '../lib/events.js';
import { everyMessage } from '../lib/messages.js';
import { reassembly } from '../lib/stream.js';

const PAYLOAD = 64;
const messages = everyMessage(PAYLOAD);

/** An end whose failures are kept, and do not end the process. */
function keeping(end) {
  end.failures = [];
  end.lose = (error) => void end.failures.push(error.message);
  return end;
}

/** A caller and a callee who call each other, one turn of the event loop later. */
function linked(change = (message) => message) {
  const caller = keeping(new Caller(PAYLOAD, (message) => setImmediate(() => callee.receive(message))));
  const callee = keeping(new Callee(PAYLOAD, (message) => setImmediate(() => caller.receive(change(message)))));
  return { caller, callee };
}

test('phases go on where the one before ended, whoever starts first', async () => {
  const { caller, callee } = linked();
  for (const [count, stamp, samples] of [
    [300, { kind: 'each' }, 300],
    [300, { kind: 'batch', n: 100 }, 3],
    [1, { kind: 'each' }, 1],
  ]) {
    const order = { phase: 'measure', count, stamp };
    const asked = caller.run(order);
    // The first message is there before the callee is told to run.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [a, b] = [await callee.run(order), await asked];
    assert.equal(a.count, count);
    assert.equal(b.count, count);
    assert.equal(b.taken.samples, samples);
    assert.equal(b.taken.bytes.length, 8 * samples);
    assert.ok(b.taken.max <= b.taken.elapsed);
  }
  assert.equal(caller.sequence, callee.sequence);
  assert.equal(caller.sequence, 1 + 2 * (302 + 302 + 3));
  assert.deepEqual([caller.failures, callee.failures], [[], []]);
});

test('a reply that is not what it has to be is refused', async () => {
  let replies = 0;
  const { caller, callee } = linked((message) => {
    replies += 1;
    if (replies < 10) return message;
    const wrong = Buffer.from(message);
    wrong[PAYLOAD - 1] ^= 1;
    return wrong;
  });
  const order = { phase: 'measure', count: 50, stamp: { kind: 'each' } };
  callee.run(order);
  caller.run(order);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(caller.failures, ['message 20 did not arrive as it was sent']);
  assert.equal(replies, 10);
});

test('a request that comes a second time is answered again only where messages are lost', () => {
  const order = { phase: 'pilot', count: 2, stamp: { kind: 'each' } };
  for (const mayRepeat of [true, false]) {
    const sent = [];
    const callee = keeping(new Callee(PAYLOAD, (message) => sent.push(messages.indexOf(message)), { mayRepeat }));
    callee.messages = messages;
    callee.run(order);
    callee.receive(messages[1]);
    callee.receive(messages[1]);
    if (mayRepeat) {
      callee.receive(messages[3]);
      assert.deepEqual([sent, callee.failures], [[2, 2, 4], []]);
    } else {
      assert.deepEqual([sent, callee.failures], [[2], ['message 3 did not arrive as it was sent']]);
    }
  }
});

test('a stream may deliver a message in any parts', () => {
  for (const size of [1, 7, 63, 64]) {
    const [got, refused] = [[], []];
    const feed = reassembly(PAYLOAD, {
      receive: (message) => got.push(Buffer.from(message)),
      refuse: (bytes) => refused.push(bytes),
    });
    for (const number of [1, 2, 3]) {
      for (let at = 0; at < PAYLOAD; at += size) feed(messages[number].subarray(at, at + size));
    }
    assert.deepEqual(got, messages.slice(1, 4), `parts of ${size}`);
    feed(Buffer.alloc(PAYLOAD + 1));
    assert.deepEqual(refused, [PAYLOAD + 1]);
  }
});
