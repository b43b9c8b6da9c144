import assert from 'node:assert/strict';
import test from 'node:test';
import { Room, now, operationsPerSample, stampCost } from '../lib/stamps.js';

const read = (bytes) =>
  Array.from({ length: bytes.length / 8 }, (_, at) => Number(bytes.readBigUInt64LE(8 * at)));

test('stamps become samples in nanoseconds', () => {
  const room = new Room();
  room.reserve(4);
  room.stamps.set([1000.000001, 1000.000101, 7000, 7000.5]);
  const each = room.take(3, 1);
  assert.deepEqual(read(each.bytes), [100, 5_999_999_899, 500_000]);
  assert.deepEqual([each.max, each.elapsed, each.samples], [5_999_999_899, 6_000_499_999, 3]);
  const pairs = room.take(2, 2);
  assert.deepEqual(read(pairs.bytes), [100, 500_000]);
  assert.deepEqual([pairs.max, pairs.elapsed], [500_000, 500_100]);
});

test('the clock is whole nanoseconds of CLOCK_MONOTONIC', () => {
  const offset = () => process.hrtime.bigint() - BigInt(Math.round(now() * 1e6));
  const [first] = [offset()];
  for (let at = 0; at < 1000; at += 1) {
    const ns = now() * 1e6;
    assert.ok(Math.abs(ns - Math.round(ns)) < 0.01, `${ns}`);
  }
  // Both go the same way; how long the two calls are apart is not said.
  assert.ok(offset() - first < 1_000_000_000n);
});

test('a stamp has a cost', () => {
  const cost = stampCost();
  assert.ok(cost.stamp_min_ns >= 0 && cost.stamp_p50_ns > 0);
  assert.ok(cost.stamp_min_ns <= cost.stamp_p50_ns && cost.stamp_p50_ns <= cost.stamp_p99_ns);
});

test('counts are whole batches', () => {
  assert.equal(operationsPerSample({ count: 7, stamp: { kind: 'each' } }), 1);
  assert.equal(operationsPerSample({ count: 20, stamp: { kind: 'batch', n: 10 } }), 10);
  assert.equal(operationsPerSample({ count: 60, stamp: { kind: 'two-lengths', n: 10 } }), 10);
  for (const [count, stamp] of [
    [25, { kind: 'batch', n: 10 }],
    [20, { kind: 'two-lengths', n: 10 }],
    [20, { kind: 'batch', n: 0 }],
    [20, { kind: 'sometimes' }],
    [20, undefined],
    [-1, { kind: 'each' }],
    [1.5, { kind: 'each' }],
  ]) {
    assert.throws(() => operationsPerSample({ count, stamp }), JSON.stringify([count, stamp]));
  }
});
