/**
 * hopcost's worker in Node.js: speaks workers/PROTOCOL.md on standard input and output.
 */
import { Trial } from './lib/attach.js';
import { describe } from './lib/describe.js';
import { Failure, answer, giveUp, readLines } from './lib/lines.js';
import { stampCost } from './lib/stamps.js';

/** @type {Trial | undefined} */
let trial;

function attached() {
  if (!trial) throw new Failure('nothing is attached');
  return trial;
}

/**
 * The reply to a command.
 * @param {any} command
 */
async function reply(command) {
  switch (command.do) {
    case 'describe':
      return describe();
    case 'attach':
      if (trial) throw new Failure('already attached');
      trial = await Trial.attach(command);
      return { is: 'attached', pid: process.pid, seats: trial.attached() };
    case 'meet':
      await attached().meet();
      return { is: 'met' };
    case 'clock':
      return {
        is: 'clock',
        cpu: command.cpu,
        runtime: 'node',
        source: 'CLOCK_MONOTONIC',
        ticks_per_second: 1e9,
        ...stampCost(),
      };
    case 'run':
      return { is: 'ran', ends: await attached().run(command) };
    case 'stop':
      return { is: 'stopped' };
    default:
      throw new Failure(`this worker does not know the command \`${command.do}\``);
  }
}

/**
 * Obeys one line.
 * @param {string} line
 */
async function obey(line) {
  let command;
  try {
    command = JSON.parse(line);
  } catch {
    // Said below.
  }
  if (typeof command?.do !== 'string') throw new Failure('not a command of the protocol');
  answer(await reply(command));
  if (command.do === 'stop') process.exit(0);
}

process.on('uncaughtException', giveUp);
process.on('unhandledRejection', giveUp);
readLines(obey).then(() => process.exit(0), giveUp);
