/** The thread of a callee: plays a phase whenever the main thread says so. */
import { parentPort, workerData } from 'node:worker_threads';
import { find } from './mechanisms.js';
import { threadId, wakeInFailure } from './threads.js';

const callee = find(workerData.mechanism).callee(workerData);

parentPort.on('message', async (order) => {
  try {
    parentPort.postMessage(await callee.run(order));
  } catch (error) {
    wakeInFailure(workerData);
    throw error;
  }
});
parentPort.postMessage({ tid: threadId() });
