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

test('each message has memory of its own, and the two directions share no pair of cache lines', () => {
  for (const message of everyMessage(64)) assert.equal(message.buffer.byteLength, 64);
  for (const payload of [1, 64, 127, 128, 129, 1 << 20]) {
    const [first, second] = placesOf(payload);
    assert.ok(first >= 128 && second - (first + payload) >= 128, `${payload}`);
  }
});
