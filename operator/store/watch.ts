/**
 * Notices within a second or two what no broken connection tells: that the run store has no place for a project any more, or that
 * its server was started anew and may have lost the end of its log.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { storeId } from '../../runs/project.ts';
import { serverProcess } from '../../store/server.ts';
import type { OperatorContext } from '../shared/context.ts';

const EVERY_MS = 1_000;

export type StoreEvents = {
  /** The project of this namespace, which has routes, has no place in the store. Told again as long as it is so. */
  onClosed: (namespace: string) => void;
  /** Another process of the server answers than before. */
  onRestart: () => void;
};

type WatchContext = Pick<OperatorContext, 'conn' | 'caches' | 'clock' | 'log'>;

/** Watches until the signal is aborted. */
export async function watchStore(
  context: WatchContext,
  events: StoreEvents,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = context;
  let server: string | undefined;
  while (!signal.aborted) {
    try {
      const found = await serverProcess(context.conn);
      if (!isUnavailable(found)) {
        if (server !== undefined && server !== found) events.onRestart();
        server = found;
        await tellClosed(context, events);
      }
    } catch (error) {
      log.warn({ err: error }, 'the run store could not be watched');
    }
    await sleep(EVERY_MS, signal, clock);
  }
}

async function tellClosed({ conn, caches }: WatchContext, { onClosed }: StoreEvents): Promise<void> {
  const projects = new Map(caches.routes.list().map(({ metadata, spec }) => [spec.projectUID, metadata]));
  await Promise.all(
    [...projects].map(async ([project, { namespace = '' }]) => {
      if ((await storeId(conn, project)) === undefined) onClosed(namespace);
    }),
  );
}
