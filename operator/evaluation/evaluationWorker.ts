/**
 * The thread of `operator/evaluation/thread.ts`. A bundle contains no file to start a thread from, so that
 * this file is bundled as an entry of its own.
 */
import { parentPort } from 'node:worker_threads';
import { perform, type Work } from './work.ts';

parentPort?.on('message', (work: Work) => parentPort?.postMessage({ done: perform(work) }, []));
parentPort?.postMessage('ready', []);
