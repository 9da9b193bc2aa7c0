/** What one project may take of the gateway, so that it keeps no other project's callers out. */
import type { ServerResponse } from 'node:http';
import { createQueue, type Queue } from './queue.ts';

/**
 * How many submissions of one project are in progress at a time. The run store processes them one after the
 * other.
 */
export type ProjectConcurrency = {
  /** Waits for a place. Call `leave` after true; false means that none became free in time. */
  enter: (project: string) => Promise<boolean>;
  leave: (project: string) => void;
};

type Submissions = { inProgress: number; waiting: Queue<Waiting> };
type Waiting = { since: number; resolve: (mayEnter: boolean) => void };

/** More do not make a project faster: they are stored in few round trips. */
const MAX_IN_PROGRESS = 64;
/** Callers learn within two seconds that an event is not stored. */
const MAX_WAIT_MS = 1_000;

export function createProjectConcurrency({
  most = MAX_IN_PROGRESS,
  maxWaitMs = MAX_WAIT_MS,
} = {}): ProjectConcurrency {
  const projects = new Map<string, Submissions>();
  return {
    enter: async (project) => {
      const submissions = projects.get(project) ?? { inProgress: 0, waiting: createQueue<Waiting>() };
      projects.set(project, submissions);
      if (submissions.inProgress >= most) {
        return new Promise((resolve) => submissions.waiting.push({ since: performance.now(), resolve }));
      }
      submissions.inProgress += 1;
      return true;
    },
    leave: (project) => {
      const submissions = projects.get(project);
      if (submissions === undefined) return;
      submissions.inProgress -= 1;
      const overdue = performance.now() - maxWaitMs;
      while (submissions.inProgress < most) {
        const next = submissions.waiting.shift();
        if (next === undefined) break;
        const mayEnter = next.since > overdue;
        if (mayEnter) submissions.inProgress += 1;
        next.resolve(mayEnter);
      }
      if (submissions.inProgress === 0) projects.delete(project);
    },
  };
}

/** How many callers may wait for runs, in all and of one project. */
export type WaiterLimit = {
  /** Takes a place until the response is closed; false if there is none. */
  enter: (project: string, response: ServerResponse) => boolean;
};

/** One project gets at most half of the places. */
export function createWaiterLimit(places: number): WaiterLimit {
  const taken = new Map<string, number>();
  const perProject = Math.ceil(places / 2);
  let total = 0;
  return {
    enter: (project, response) => {
      // A closed response would never give its place back.
      if (response.destroyed) return true;
      const own = taken.get(project) ?? 0;
      if (total >= places || own >= perProject) return false;
      total += 1;
      taken.set(project, own + 1);
      response.once('close', () => {
        total -= 1;
        const left = (taken.get(project) ?? 1) - 1;
        if (left > 0) taken.set(project, left);
        else taken.delete(project);
      });
      return true;
    },
  };
}
