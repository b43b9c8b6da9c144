import assert from 'node:assert/strict';
import test from 'node:test';
import { placesOf } from '../lib/threads.js';

test('the two directions share no pair of cache lines, with each other or with anything else', () => {
  for (const payload of [1, 64, 127, 128, 129, 1 << 20]) {
    const [first, second] = placesOf(payload);
    assert.ok(first >= 128, `${payload}`);
    assert.ok(second - (first + payload) >= 128, `${payload}`);
  }
});
