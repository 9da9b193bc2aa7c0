/**
 * Events on their way to the run store, which takes one after the other: so many of one project at once, so that those of others
 * find few before them, however many come of one project at once.
 */
import type { ServerResponse } from 'node:http';
import { createQueue, type Queue } from './queue.ts';

export type Lanes = {
  /** Waits until the project has room; then, and only then, `leave` must be called. False if there was none for too long. */
  enter: (project: string) => Promise<boolean>;
  leave: (project: string) => void;
};

type Lane = { taken: number; waiting: Queue<Waiting> };
type Waiting = { since: number; go: (mayEnter: boolean) => void };

/** More of them do not make a project faster: they are stored in few round trips. */
const MOST_AT_ONCE = 64;
/** Callers are told within two seconds that an event is not stored. */
const MAX_WAIT_MS = 1_000;

export function createLanes({ most = MOST_AT_ONCE, maxWaitMs = MAX_WAIT_MS } = {}): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    enter: async (project) => {
      const lane = lanes.get(project) ?? { taken: 0, waiting: createQueue<Waiting>() };
      lanes.set(project, lane);
      if (lane.taken >= most) {
        return new Promise((go) => lane.waiting.push({ since: performance.now(), go }));
      }
      lane.taken += 1;
      return true;
    },
    leave: (project) => {
      const lane = lanes.get(project);
      if (lane === undefined) return;
      lane.taken -= 1;
      const overdue = performance.now() - maxWaitMs;
      while (lane.taken < most) {
        const next = lane.waiting.shift();
        if (next === undefined) break;
        const mayEnter = next.since > overdue;
        if (mayEnter) lane.taken += 1;
        next.go(mayEnter);
      }
      if (lane.taken === 0) lanes.delete(project);
    },
  };
}

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
