/** The one way of an event from the gateway to the run store. */
import { submit } from '../../runs/submit.ts';
import type { Submission, Submitted } from '../../runs/types.ts';
import type { GatewayDeps } from './deps.ts';

/** Stores the event as `submit` does, when its project has room; `unavailable` where it has none for too long. */
export async function storeEvent(
  { runs, limits: { lanes } }: Pick<GatewayDeps, 'runs' | 'limits'>,
  submission: Submission,
): Promise<Submitted> {
  const hasRoom = await lanes.enter(submission.project);
  if (!hasRoom) return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };
  try {
    return await submit(runs, submission);
  } finally {
    lanes.leave(submission.project);
  }
}
