/** Waiting for a run on behalf of a caller, counted. */
import type { ProjectUid } from '../../runs/types.ts';
import type { Waited, WaitOptions } from '../../runs/reply.ts';
import type { GatewayDeps } from './deps.ts';

/** Waits as `ReplyWaiter.wait` does, while the metrics show it. */
export async function waitFor(
  { waiter, open }: Pick<GatewayDeps, 'waiter' | 'open'>,
  project: ProjectUid,
  run: string,
  options: WaitOptions,
): Promise<Waited> {
  open.waiters += 1;
  try {
    return await waiter.wait(project, run, options);
  } finally {
    open.waiters -= 1;
  }
}
