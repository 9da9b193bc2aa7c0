/**
 * The program of a tick: submits one event of a schedule and exits. It loads little, because it starts for
 * every event.
 */
import { LOST_EXIT } from '../../api/tick.ts';
import type { Log } from '../../kube/log.ts';
import { connectRunStore } from '../../store/connection.ts';
import { tickConfig } from './config.ts';
import { submitTick } from './submitTick.ts';

const CONNECT_MS = 2_000;
const EXIT = { ok: 0, stopped: 1, lost: LOST_EXIT } as const;

const line = (level: keyof Log) => (fields: object, message: string) =>
  console.log(
    JSON.stringify({ level, time: new Date().toISOString(), program: 'tick', ...fields, msg: message }),
  );
const log: Log = { debug: () => {}, info: line('info'), warn: line('warn'), error: line('error') };

/** The last error of the connection, logged at the end of a failed tick. */
let connectionError: unknown;
const quiet: Log = {
  ...log,
  info: () => {},
  warn: () => {},
  debug: (fields) => (connectionError = 'error' in fields ? fields.error : undefined),
};

// The first process of a container ignores signals that it does not handle.
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());

const config = tickConfig();
const conn = connectRunStore({ ...config.store, name: config.job, log: quiet });
// The first submission detects an unavailable run store.
await conn.ready(AbortSignal.any([stopping.signal, AbortSignal.timeout(CONNECT_MS)])).catch(() => {});
const { kind, message, fields } = await submitTick(conn, config, { log, signal: stopping.signal });
await conn.close();
if (kind === 'ok') log.info(fields, message);
else log.error({ ...fields, connectionError }, message);
process.exitCode = EXIT[kind];
