/**
 * The program of a CronJob's pod: one event of a schedule, and away. It loads next to nothing, since it
 * starts every time.
 */
import { LOST_EXIT } from '../../api/tick.ts';
import type { Log } from '../../kube/log.ts';
import { connectRunStore } from '../../runs/connection.ts';
import { tickConfig } from './config.ts';
import { fire } from './tick.ts';

const CONNECT_MS = 2_000;
const EXIT = { ok: 0, stopped: 1, lost: LOST_EXIT } as const;

const line = (level: keyof Log) => (fields: object, message: string) =>
  console.log(
    JSON.stringify({ level, time: new Date().toISOString(), program: 'tick', ...fields, msg: message }),
  );
const log: Log = { debug: () => {}, info: line('info'), warn: line('warn'), error: line('error') };

/** Of the connection only what it last failed with is told, with the end of the tick. */
let connectionError: unknown;
const quiet: Log = {
  ...log,
  info: () => {},
  warn: () => {},
  debug: (fields) => (connectionError = 'error' in fields ? fields.error : undefined),
};

// A first process of a container ends by no signal unless it says so.
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());

const config = tickConfig();
const conn = connectRunStore({ ...config.store, name: config.job, log: quiet });
// Whether it is there or not is told by the first submission.
await conn.ready(AbortSignal.any([stopping.signal, AbortSignal.timeout(CONNECT_MS)])).catch(() => {});
const { kind, message, fields } = await fire(conn, config, { log, signal: stopping.signal });
await conn.close();
if (kind === 'ok') log.info(fields, message);
else log.error({ ...fields, connectionError }, message);
process.exitCode = EXIT[kind];
