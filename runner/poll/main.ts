/**
 * The program of the pod that looks at the accounts of a project. It loads what it needs when it needs it,
 * since it starts every minute.
 */
import type { Log } from '../../kube/log.ts';
import { loadPoller } from '../../nodes/pollers.ts';
import { connectRunStore } from '../../runs/connection.ts';
import { pollConfig } from './config.ts';
import type { AccountMeans } from './means.ts';
import { runPod } from './pod.ts';
import { endOfWindow } from './window.ts';

const CONNECT_MS = 2_000;
/** As of a program that a SIGTERM ended. */
const TERMINATED = 143;

const line = (level: keyof Log) => (fields: object, message: string) =>
  console.log(
    JSON.stringify(
      { level, time: new Date().toISOString(), program: 'poll', ...fields, msg: message },
      (_key, value: unknown) =>
        value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value,
    ),
  );
const log: Log = { debug: () => {}, info: line('info'), warn: line('warn'), error: line('error') };

// A first process of a container ends by no signal unless it says so.
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());

const config = pollConfig();
const { project, pod } = config;
// That it comes and goes is told by the end; that its certificate is refused, by nobody else.
const conn = connectRunStore({ ...config.store, name: pod, log: { ...log, info: () => {}, warn: () => {} } });
// Whether it is there or not is told by the first call.
await conn.ready(AbortSignal.timeout(CONNECT_MS)).catch(() => {});
let opened: Promise<AccountMeans> | undefined;
const means = () => (opened ??= import('./means.ts').then(({ openMeans }) => openMeans(config, log)));
const now = Date.now();
const forMs = endOfWindow(now) - now;
const reached = await runPod({
  conn,
  project,
  pod,
  poller: loadPoller,
  means,
  doubt: () => void opened?.then((accounts) => accounts.doubt()),
  log,
  forMs,
  stop: stopping.signal,
});
if (!reached) log.error({}, 'the run store was not reached');
await conn.close();
// Ended before its time, as where its node is drained, it must not count as a success: then its Job makes
// another pod, instead of nobody looking before the next minute. What a poller that did not heed its end
// still holds open is not waited for.
const ended = stopping.signal.aborted ? TERMINATED : 0;
process.exit(reached ? ended : 1);
