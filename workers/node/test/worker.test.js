/** What `hopcost worker check` cannot see. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { endOf } from '../lib/ends.js';
import { everyMessage } from '../lib/messages.js';
import { placesOf } from '../lib/threads.js';

test('a request that comes a second time is answered again only where messages are lost', () => {
  for (const mayRepeat of [true, false]) {
    const [sent, failures] = [[], []];
    const send = (message) => sent.push(callee.messages.indexOf(message));
    const callee = endOf({ role: 'callee', payload: 64 }, send, mayRepeat);
    callee.lose = (error) => void failures.push(error.message);
    callee.run({ phase: 'pilot', count: 2, stamp: { kind: 'each' } });
    callee.receive(callee.messages[1]);
    callee.receive(callee.messages[1]);
    if (mayRepeat) callee.receive(callee.messages[3]);
    const refused = ['message 3 did not arrive as it was sent'];
    assert.deepEqual([sent, failures], mayRepeat ? [[2, 2, 4], []] : [[2], refused]);
  }
});

test('a load keeps its times, and its receiver takes each message once and in order', async () => {
  const stamp = { kind: 'each' };
  const times = Float64Array.of(1, 2, 0, 3);
  for (const phase of ['measure', 'pilot']) {
    const sent = [];
    const sender = endOf({ role: 'caller', payload: 64, workload: 'load' }, (message) => sent.push(message));
    const done = sender.run({ phase, count: 4, stamp, times });
    if (phase === 'measure') for (const number of [2, 4]) sender.receive(sender.messages[number]);
    const { bytes, first_tick, overruns } = (await done).taken;
    assert.equal(sent.length, phase === 'measure' ? 6 : 0);
    assert.ok(bytes[23] >> 7 === 1 && overruns >= 1);
    times.forEach((after, at) => {
      const word = Number(bytes.readBigUInt64LE(8 * at) & 0x7fffffffffffffffn);
      assert.ok(word >= first_tick + after * 1e6 - 1, `${at}`);
    });
  }
  for (const [last, refused] of [[7, 0], [5, 1], [9, 1]]) {
    const [sent, failures] = [[], []];
    const receiver = endOf({ role: 'callee', payload: 64, workload: 'load' }, (message) => sent.push(message));
    receiver.lose = (error) => void failures.push(error.message);
    receiver.run({ phase: 'measure', count: 2, stamp });
    for (const number of [1, 3, 5, last]) receiver.receive(receiver.messages[number]);
    assert.deepEqual([sent.length, failures.length], [2, refused]);
  }
});

test('each message has memory of its own, and the two directions share no pair of cache lines', () => {
  for (const message of everyMessage(64)) assert.equal(message.buffer.byteLength, 64);
  for (const payload of [1, 64, 127, 128, 129, 1 << 20]) {
    const [first, second] = placesOf(payload);
    assert.ok(first >= 128 && second - (first + payload) >= 128, `${payload}`);
  }
});
