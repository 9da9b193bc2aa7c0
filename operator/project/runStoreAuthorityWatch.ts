/** Watches the file with the certificate authorities of the run store: no informer reports its changes. */
import { untilBeat } from '../../kube/beat.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Projects } from './projects.ts';

const INTERVAL_MS = 10_000;

type Context = { clock: Clock; projects: Pick<Projects, 'readAuthority' | 'authorityChanged'> };

/** Notifies `projects.authorityChanged` within about ten seconds of each change, until the signal aborts. */
export async function watchRunStoreAuthority(
  { clock, projects }: Context,
  signal: AbortSignal,
): Promise<void> {
  // Without valid authorities reconciles fail and are retried, so that nothing needs to be notified.
  const read = (): Promise<string | undefined> => projects.readAuthority().catch(() => undefined);
  let known = await read();
  while (!signal.aborted) {
    await untilBeat(INTERVAL_MS, signal, clock);
    const authority = await read();
    if (authority !== known) projects.authorityChanged.notify();
    known = authority;
  }
}
