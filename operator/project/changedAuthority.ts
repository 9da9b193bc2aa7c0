/** Notices when the file with the certificate authorities of the run store changes, which no cache shows. */
import { sleep, type Clock } from '../../kube/clock.ts';
import type { Projects } from './projects.ts';

const EVERY_MS = 10_000;

type Context = { clock: Clock; projects: Pick<Projects, 'readAuthority' | 'authorityChanged'> };

/** Notifies of each change until the signal is aborted, at most ten seconds after it. */
export async function watchAuthority({ clock, projects }: Context, signal: AbortSignal): Promise<void> {
  // While there is no valid one, reconciles fail, and are repeated by themselves.
  const read = (): Promise<string | undefined> => projects.readAuthority().catch(() => undefined);
  let known = await read();
  while (!signal.aborted) {
    await sleep(EVERY_MS, signal, clock);
    const authority = await read();
    if (authority !== known) projects.authorityChanged.notify();
    known = authority;
  }
}
