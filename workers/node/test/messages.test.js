import assert from 'node:assert/strict';
import test from 'node:test';
import { contents, everyMessage, same } from '../lib/messages.js';

test('messages are as PROTOCOL.md says', () => {
  for (const payload of [0, 1, 7, 8, 9, 64, 1000]) {
    const messages = everyMessage(payload);
    assert.equal(messages.length, contents(payload));
    for (const number of [0, 1, 2, 7, messages.length - 1]) {
      const first = BigInt.asUintN(64, BigInt(number) * 0x9e3779b97f4a7c15n);
      const expected = Buffer.alloc(8 * Math.ceil(payload / 8));
      for (let at = 0; at < expected.length; at += 8) {
        expected.writeBigUInt64LE(BigInt.asUintN(64, first + BigInt(at / 8)), at);
      }
      assert.deepEqual(messages[number], expected.subarray(0, payload));
    }
  }
});

test('contents come again sooner the longer they are', () => {
  // So many of them are 16 KiB at most, where that is not fewer than four.
  for (const [payload, count] of [
    [0, 256], [1, 256], [64, 256], [65, 128], [100, 128], [1024, 16], [1025, 8], [2049, 4], [4096, 4], [1 << 20, 4],
  ]) {
    assert.equal(contents(payload), count, `${payload} bytes`);
    assert.equal(new Set(everyMessage(payload).map((message) => message.toString('latin1'))).size, payload ? count : 1);
  }
});

test('each message has memory of its own', () => {
  for (const message of everyMessage(64)) assert.equal(message.buffer.byteLength, 64);
});

test('any flipped bit and any other length is seen', () => {
  const [, message] = everyMessage(65);
  const other = Buffer.from(message);
  assert.ok(same(message, other));
  for (let bit = 0; bit < 8 * other.length; bit += 1) {
    other[bit >> 3] ^= 1 << (bit & 7);
    assert.ok(!same(message, other), `bit ${bit}`);
    other[bit >> 3] ^= 1 << (bit & 7);
  }
  assert.ok(!same(message, other.subarray(1)));
  assert.ok(!same(message, Buffer.concat([other, Buffer.alloc(1)])));
});
