/**
 * Callers that wait for the answer of a run: so many in all, half of them of one project, so that runs that do not answer
 * keep no other project's callers out.
 */
import type { ServerResponse } from 'node:http';

export type Waits = {
  /** Lets the caller wait until the response is closed; false if too many do already. */
  enter: (project: string, response: ServerResponse) => boolean;
};

export function createWaits(waiting: number): Waits {
  const ofProject = new Map<string, number>();
  const most = Math.ceil(waiting / 2);
  let all = 0;
  return {
    enter: (project, response) => {
      // Whoever has gone takes no place, and would never give it back.
      if (response.destroyed) return true;
      const own = ofProject.get(project) ?? 0;
      if (all >= waiting || own >= most) return false;
      all += 1;
      ofProject.set(project, own + 1);
      response.once('close', () => {
        all -= 1;
        const left = (ofProject.get(project) ?? 1) - 1;
        if (left > 0) ofProject.set(project, left);
        else ofProject.delete(project);
      });
      return true;
    },
  };
}
