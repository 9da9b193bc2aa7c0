/** Plays one scene: messages of people, faults at their points, a further message, and a retry. */
import { setTimeout as delay } from 'node:timers/promises';
import { pollUntil } from '../../support/time/poll.ts';
import type { ChatSeen, SceneEvidence } from './checker.ts';
import { converse, newSession } from './chatClient.ts';
import { memoriesOf, recordsOf, watchCharges, type ChargesWatch } from './evidence.ts';
import { promptOf } from './model.ts';
import { retryUnknown } from './retry.ts';
import { stepMatcher, type Blow, type Point, type Scene } from './scenes.ts';
import { openProject, restartRedis, type Stage, type StageProject, type StageRunner } from './stage.ts';

/** A takeover takes 20 s; a scene has at most three runners. */
const ENDED_WITHIN_MS = 150_000;
const REACHED_WITHIN_MS = 60_000;
/** An answer that is half streamed is joined over 50 ms, and sent to the chat. */
const STREAMED_MS = 300;

type Play = { stage: Stage; scene: Scene; project: StageProject; runner: StageRunner; hits: number };

/** Never throws for what the system did: the checker finds it in the evidence. */
export async function playScene(stage: Stage, scene: Scene): Promise<SceneEvidence> {
  const project = await openProject(stage, scene);
  const charges = watchCharges(stage, project);
  const play: Play = { stage, scene, project, runner: await project.startRunner(), hits: 0 };
  try {
    return await act(play, charges);
  } finally {
    await play.runner.program.stop('SIGKILL');
    charges.stop();
  }
}

async function act(play: Play, charges: ChargesWatch): Promise<SceneEvidence> {
  const { stage, scene, project } = play;
  const faults = strike(play);
  const sessions = Array.from({ length: scene.sessions }, newSession);
  const chats = await Promise.all(sessions.map((session, index) => say(play, session, scene.mode, index)));
  await faults;
  const again = scene.sessions === 1 ? await say(play, sessions[0] ?? '', 'none', chats.length) : undefined;
  await untilEnded(play);
  const retried = scene.expected === 'Unknown' ? await retryUnknown(stage, project) : undefined;
  if (retried?.run !== undefined) await untilEnded(play);
  const isOwn = <T extends { scene: string }>(all: readonly T[]) => all.filter((one) => one.scene === scene.id);
  return {
    scene,
    hits: play.hits,
    chats,
    ...(again && { again }),
    runs: await recordsOf(stage, project),
    requests: isOwn(stage.wire.requests),
    effects: isOwn(stage.wire.effects),
    memories: await memoriesOf(stage, project),
    charges: await charges.read(),
    ...(retried && { retried }),
  };
}

function say(
  { scene, project }: Play,
  session: string,
  mode: Scene['mode'],
  index: number,
): Promise<ChatSeen> {
  const text = promptOf(scene.id, mode);
  return converse(project.chatURL, { session, id: `m${index}`, text, withinMs: ENDED_WITHIN_MS });
}

/** All faults, one after the other. Ends early if a point is not reached. */
async function strike(play: Play): Promise<void> {
  for (const blow of play.scene.blows) {
    const point = arm(play, blow.at);
    const isReached = await point.reached.then(
      () => true,
      () => false,
    );
    if (!isReached) {
      point.release();
      return;
    }
    play.hits += 1;
    await hit(play, blow);
    point.release();
  }
}

/** Holds what comes to the point next. `reached` rejects where nothing comes in time. */
function arm({ stage, scene, project, runner }: Play, at: Point): { reached: Promise<void>; release(): void } {
  const isParked = async () =>
    (await recordsOf(stage, project)).filter(({ phase }) => phase === 'Waiting').length === 2;
  if ('parked' in at)
    return {
      reached: pollUntil('both runs waiting', isParked, { timeoutMs: REACHED_WITHIN_MS, everyMs: 50 }).then(
        () => undefined,
      ),
      release: () => undefined,
    };
  const gate =
    'wire' in at
      ? stage.gates.hold(scene.id, at.wire)
      : runner.redis.hold(stepMatcher(at.script, project.uids), at.side);
  const expired = AbortSignal.timeout(REACHED_WITHIN_MS);
  const late = new Promise<never>((_, reject) => {
    expired.addEventListener('abort', () => reject(new Error('not reached')), { once: true });
  });
  return { reached: Promise.race([gate.reached, late]), release: gate.release };
}

/** A killed runner is replaced; the lost answer is lost when its point is released. */
async function hit(play: Play, { at, hits }: Blow): Promise<void> {
  if ('wire' in at && at.wire.endsWith('half')) await delay(STREAMED_MS);
  const redis = hits.includes('kill-redis') ? restartRedis(play.stage) : undefined;
  if (hits.includes('kill-gateways')) for (const gateway of play.stage.gateways) gateway.kill();
  if (hits.includes('kill-runner')) {
    await play.runner.program.stop('SIGKILL');
    play.runner = await play.project.startRunner();
  }
  await redis;
}

async function untilEnded({ stage, project }: Play): Promise<void> {
  const areEnded = async () =>
    (await recordsOf(stage, project)).every(({ phase }) => ['Succeeded', 'Failed', 'Cancelled'].includes(phase));
  const options = { timeoutMs: REACHED_WITHIN_MS, everyMs: 200 };
  await pollUntil('the ends of all runs', areEnded, options).catch(() => undefined);
}
