// A round trip of 64 bytes over a Unix stream socket between two processes, without
// hopcost: `taskset -c 0 node pingpong.mjs COUNT` prints the p50 of the last of 10 rounds in ns.
import { spawn } from 'node:child_process';
import net from 'node:net';

const [count, role] = [Number(process.argv[2]), process.argv[3]];
const messages = Array.from({ length: 256 }, (_, number) => Buffer.alloc(64, number));
const child = role === 'callee' ? undefined
  : spawn(process.execPath, [process.argv[1], count, 'callee'], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
const socket = child ? child.stdio[3] : new net.Socket({ fd: 3, readable: true, writable: true });
const stamps = new Float64Array(count + 1);
let [number, at, round] = [child ? 2 : 1, 0, 1];

socket.on('data', (message) => {
  if (!message.equals(messages[number & 255])) throw new Error(`message ${number} is not what it has to be`);
  if (child) stamps[at++] = performance.now();
  if (child && at > count && round++ === 10) {
    const sorted = stamps.subarray(1).map((stamp, index) => stamp - stamps[index]).sort();
    console.log(Math.round(sorted[Math.ceil(count / 2) - 1] * 1e6));
    return socket.end();
  }
  if (at > count) at = 0;
  socket.write(messages[(number + 1) & 255]);
  number += 2;
});
if (child) socket.write(messages[1]);
