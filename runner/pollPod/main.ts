/**
 * The program of a poll pod. It loads modules when it needs them, because it starts often and for a moment.
 */
import type { Log } from '../../kube/log.ts';
import { loadPoller } from '../../nodes/pollers.ts';
import { connectRunStore } from '../../store/connection.ts';
import { pollConfig } from './config.ts';
import type { RefreshableAccess } from './projectAccess.ts';
import { runPollPod } from './pod.ts';
import { aheadOf, endOfWindow } from '../poll/due.ts';

const CONNECT_MS = 2_000;
/** The exit code of a program that SIGTERM ended. */
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

// The first process of a container ignores signals that it does not handle.
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());

const config = pollConfig();
const { project, pod } = config;
// The end logs an unreachable run store; only the connection logs a refused certificate.
const conn = connectRunStore({ ...config.store, name: pod, log: { ...log, info: () => {}, warn: () => {} } });
// The first call detects an unavailable run store.
await conn.ready(AbortSignal.timeout(CONNECT_MS)).catch(() => {});
let opened: Promise<RefreshableAccess> | undefined;
const access = () =>
  (opened ??= import('./projectAccess.ts').then(({ openProjectAccess }) => openProjectAccess(config, log)));
const now = Date.now();
const forMs = endOfWindow(now) - now;
const reached = await runPollPod({
  conn,
  project,
  pod,
  poller: loadPoller,
  access,
  invalidate: () => void opened?.then((opened) => opened.invalidate()),
  log,
  aheadMs: aheadOf(config.periodMs),
  forMs,
  stop: stopping.signal,
});
if (!reached) log.error({}, 'run store unreachable');
await conn.close();
// A pod that was ended early, for example by a drain, must fail: then its Job creates another pod in the same
// minute. Exits without waiting for connections of pollers that ignored the signal.
const ended = stopping.signal.aborted ? TERMINATED : 0;
process.exit(reached ? ended : 1);
