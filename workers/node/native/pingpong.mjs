// A round trip over a Unix stream socket between two processes, without hopcost:
// `taskset -c 0 node pingpong.mjs COUNT PAYLOAD` prints the p50 of the last of 10 rounds in ns;
// `CALLEE_CPU=1` puts the other process on that CPU.
import { spawn } from 'node:child_process';
import net from 'node:net';

const [count, payload, role] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];
// As many different messages as in PROTOCOL.md, the same in both processes.
let contents = 256;
while (contents > 4 && contents * payload > 16 * 1024) contents /= 2;
const messages = Array.from({ length: contents }, (_, number) => Buffer.alloc(payload, number));
const pinned = process.env.CALLEE_CPU ? ['taskset', '-c', process.env.CALLEE_CPU] : [];
const [program, ...rest] = [...pinned, process.execPath, process.argv[1], count, payload, 'callee'];
const child = role === 'callee' ? undefined
  : spawn(program, rest, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
const socket = child ? child.stdio[3] : new net.Socket({ fd: 3, readable: true, writable: true });
const stamps = new Float64Array(count + 1);
const last = contents - 1;
let [number, at, round] = [child ? 2 : 1, 0, 1];

function receive(message) {
  if (!message.equals(messages[number & last])) throw new Error(`message ${number} is not what it has to be`);
  if (child) stamps[at++] = performance.now();
  if (child && at > count && round++ === 10) {
    const sorted = stamps.subarray(1).map((stamp, index) => stamp - stamps[index]).sort();
    console.log(Math.round(sorted[Math.ceil(count / 2) - 1] * 1e6));
    return socket.end();
  }
  if (at > count) at = 0;
  socket.write(messages[(number + 1) & last]);
  number += 2;
}

const whole = Buffer.alloc(payload);
let filled = 0;
socket.on('data', (part) => {
  if (part.length === payload) return receive(part);
  part.copy(whole, filled);
  filled += part.length;
  if (filled === payload) {
    filled = 0;
    receive(whole);
  }
});
if (child) socket.write(messages[1]);
