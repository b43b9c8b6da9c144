import assert from 'node:assert/strict';
import test from 'node:test';
import { parseCase, payloadOf, waitOf } from '../lib/case.js';

test('a spelling is taken apart', () => {
  const of = parseCase('roundtrip/tcp?payload=64&boundary=process&wait=spin:block&nodelay=on&runtime=node:rust');
  assert.equal(of.workload, 'roundtrip');
  assert.equal(of.mechanism, 'tcp');
  assert.equal(of.keys.nodelay, 'on');
  assert.equal(of.keys.runtime, 'node:rust');
  assert.deepEqual([waitOf(of, 'caller'), waitOf(of, 'callee')], ['spin', 'block']);
  assert.equal(waitOf(parseCase('roundtrip/pipe?wait=block'), 'callee'), 'block');
});

test('what is no case is refused', () => {
  for (const spelling of [undefined, '', 'pipe', '/pipe', 'roundtrip/', 'roundtrip/pipe?payload']) {
    assert.throws(() => parseCase(spelling), /case/, String(spelling));
  }
});

test('a payload is what the row allows', () => {
  const row = { payload: { min: 1, max: 100, default: 64 } };
  assert.equal(payloadOf(parseCase('call/x'), row), 64);
  assert.equal(payloadOf(parseCase('call/x?payload=100'), row), 100);
  for (const payload of ['0', '101', '1.5', 'x', '']) {
    assert.throws(() => payloadOf(parseCase(`call/x?payload=${payload}`), row), /payload/);
  }
});
