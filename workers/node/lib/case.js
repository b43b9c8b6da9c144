/**
 * A case's spelling, as far as this worker has to look at it.
 */
import { Failure } from './lines.js';

/**
 * @typedef {object} Case
 * @property {string} workload
 * @property {string} mechanism
 * @property {Record<string, string>} keys everything behind the `?`
 */

/**
 * Takes a spelling such as `roundtrip/pipe?payload=64&boundary=process` apart.
 * @param {unknown} spelling
 * @returns {Case}
 */
export function parseCase(spelling) {
  const found = /^([a-z-]+)\/([^?]+)(?:\?(.*))?$/.exec(String(spelling));
  if (!found) throw new Failure(`\`${spelling}\` is not the spelling of a case`);
  const [, workload, mechanism, rest] = found;
  /** @type {Record<string, string>} */
  const keys = Object.create(null);
  for (const part of (rest ?? '').split('&').filter(Boolean)) {
    const at = part.indexOf('=');
    if (at < 1) throw new Failure(`\`${part}\` in a case is not key=value`);
    keys[part.slice(0, at)] = part.slice(at + 1);
  }
  return { workload, mechanism, keys };
}

/**
 * How an end waits: `block`, or `spin:block` for caller and callee.
 * @param {Case} of
 * @param {'caller' | 'callee'} role
 */
export function waitOf(of, role) {
  const [caller, callee = caller] = (of.keys.wait ?? 'block').split(':');
  return role === 'caller' ? caller : callee;
}

/**
 * Bytes of a message, within what a mechanism's row says.
 * @param {Case} of
 * @param {{payload: {min: number, max: number, default: number}}} row
 */
export function payloadOf(of, { payload: { min, max, default: usual } }) {
  const payload = of.keys.payload === undefined ? usual : Number(of.keys.payload);
  if (!Number.isInteger(payload) || payload < min || payload > max) {
    throw new Failure(`a payload of ${of.keys.payload} bytes is not between ${min} and ${max}`);
  }
  return payload;
}
