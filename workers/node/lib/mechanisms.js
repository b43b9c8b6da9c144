/** Every mechanism of this worker. */
import { Failure } from './lines.js';
import * as messageChannel from './mechanisms/message-channel.js';
import * as messageChannelSync from './mechanisms/message-channel-sync.js';
import * as pipe from './mechanisms/pipe.js';
import * as pipeSync from './mechanisms/pipe-sync.js';
import * as sharedArrayBuffer from './mechanisms/shared-array-buffer.js';
import * as tcp from './mechanisms/tcp.js';
import * as udp from './mechanisms/udp.js';
import * as udpSend from './mechanisms/udp-send.js';
import * as unixStream from './mechanisms/unix-stream.js';
import * as websocket from './mechanisms/websocket.js';

/** In the order of `describe`. */
export const mechanisms = [
  udpSend,
  sharedArrayBuffer,
  messageChannel,
  messageChannelSync,
  pipe,
  pipeSync,
  unixStream,
  udp,
  tcp,
  websocket,
];

/**
 * The mechanism of this name.
 * @param {string} name
 */
export function find(name) {
  const found = mechanisms.find(({ row }) => row.name === name);
  if (!found) throw new Failure(`this worker has no mechanism \`${name}\``);
  return found;
}
