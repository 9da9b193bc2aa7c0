/** Does the faults of a scene, each at its point. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../../support/process/program.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { recordsOf, untilEnded } from './evidence.ts';
import { stepMatcher, type Blow, type Hit, type Point, type Scene } from './points.ts';
import { restartRedis, type AgentHarness, type SceneProject, type SceneRunner } from './harness.ts';

const REACHED_WITHIN_MS = 60_000;
/** An answer that is half streamed is joined over 50 ms, and sent to the chat. */
const STREAMED_MS = 300;
/** A runner that continues gives a call of the run store up after two seconds, and repeats it. */
const LATE_MS = 4_000;

/** Resolves when a hit of shared programs has begun; `over` when they are back. */
export type Together = (hits: readonly Hit[]) => Promise<{ over: Promise<void> }>;

export type Play = {
  harness: AgentHarness;
  scene: Scene;
  project: SceneProject;
  runner: SceneRunner;
  hits: number;
  together: Together;
  /** Lets frozen runners continue. */
  thaws: (() => Program)[];
};

/** All faults, one after the other. Ends early if a point is not reached. */
export async function strike(play: Play): Promise<void> {
  for (const blow of play.scene.blows) {
    const point = arm(play, blow.at);
    const isReached = await point.reached.then(
      () => true,
      () => false,
    );
    if (!isReached) {
      point.release();
      // The others do not wait for it.
      void play.together([]);
      return;
    }
    play.hits += 1;
    await hit(play, blow, point.release);
  }
}

/** Holds what comes to the point next. `reached` rejects where nothing comes in time. */
function arm(
  { harness, scene, project, runner }: Play,
  at: Point,
): { reached: Promise<void>; release: (isLate?: boolean) => void } {
  const isParked = async () =>
    (await recordsOf(harness, project)).filter(({ phase }) => phase === 'Waiting').length === 2;
  if ('parked' in at)
    return {
      reached: pollUntil('both runs waiting', isParked, { timeoutMs: REACHED_WITHIN_MS, everyMs: 50 }).then(
        () => undefined,
      ),
      release: () => undefined,
    };
  const gate =
    'wire' in at
      ? harness.gates.hold(scene.id, at.wire)
      : runner.redis.hold(stepMatcher(at.script, project.uids), at.side);
  const expired = AbortSignal.timeout(REACHED_WITHIN_MS);
  const late = new Promise<never>((_, reject) => {
    expired.addEventListener('abort', () => reject(new Error('not reached')), { once: true });
  });
  return { reached: Promise.race([gate.reached, late]), release: gate.release };
}

/** A runner that is killed, ends or is frozen is replaced. */
async function hit(play: Play, { at, hits }: Blow, release: (isLate?: boolean) => void): Promise<void> {
  if ('wire' in at && at.wire.endsWith('half')) await delay(STREAMED_MS);
  const isShared = hits.includes('kill-redis') || hits.includes('kill-gateways');
  const shared = isShared ? await play.together(hits) : undefined;
  const { program } = play.runner;
  if (hits.includes('kill-runner')) await program.stop('SIGKILL');
  if (hits.includes('end-runner')) program.signal('SIGTERM');
  if (hits.includes('freeze-runner')) {
    program.signal('SIGSTOP');
    play.thaws.push(() => {
      program.signal('SIGCONT');
      release(true);
      return program;
    });
  } else release();
  if (hits.some((name) => name.endsWith('-runner'))) play.runner = await play.project.startRunner();
  await shared?.over;
}

/** Frozen runners continue when the runs have ended that were taken over from them. */
export async function thaw(play: Play, messages: number): Promise<void> {
  if (play.thaws.length === 0) return;
  await untilEnded(play.harness, play.project, messages);
  const programs = play.thaws.map((resume) => resume());
  await delay(LATE_MS);
  for (const program of programs) await program.stop('SIGKILL');
}

/** The hits of so many scenes are one: they begin when each has come to its point. */
export function createTogether(harness: AgentHarness, scenes: number): Together {
  const begun = Promise.withResolvers<{ over: Promise<void> }>();
  const all = new Set<Hit>();
  let left = scenes;
  return (hits) => {
    for (const name of hits) all.add(name);
    left -= 1;
    if (left === 0) {
      if (all.has('kill-gateways')) for (const gateway of harness.gateways) gateway.kill();
      begun.resolve({ over: all.has('kill-redis') ? restartRedis(harness) : Promise.resolve() });
    }
    return begun.promise;
  };
}
