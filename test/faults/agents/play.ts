/** Plays one scene: messages of people, faults at their points, a further message, and a retry. */
import { converse, newSession } from './chatClient.ts';
import { memoriesOf, recordsOf, untilEnded, watchCharges, type ChargesWatch } from './evidence.ts';
import { promptOf } from './model.ts';
import type { Scene } from './points.ts';
import { retryUnknown } from './retry.ts';
import type { ChatSeen, SceneEvidence } from './seen.ts';
import { openProject, type AgentHarness } from './harness.ts';
import { createTogether, strike, thaw, type Play, type Together } from './strike.ts';

/** A takeover takes 20 s; a scene has at most three runners. */
const ENDED_WITHIN_MS = 150_000;

/** Never throws for what the system did: the checker finds it in the evidence. */
export async function playScene(
  harness: AgentHarness,
  scene: Scene,
  together: Together = createTogether(harness, 1),
): Promise<SceneEvidence> {
  const project = await openProject(harness, scene);
  const charges = watchCharges(harness, project);
  const runner = await project.startRunner();
  const play: Play = { harness, scene, project, runner, hits: 0, together, thaws: [] };
  try {
    return await act(play, charges);
  } finally {
    await play.runner.program.stop();
    charges.stop();
  }
}

async function act(play: Play, charges: ChargesWatch): Promise<SceneEvidence> {
  const { harness, scene, project } = play;
  const faults = strike(play);
  const sessions = Array.from({ length: scene.sessions }, newSession);
  const chats = await Promise.all(sessions.map((session, index) => say(play, session, scene.mode, index)));
  await faults;
  await thaw(play, chats.length);
  const again = scene.sessions === 1 ? await say(play, sessions[0] ?? '', 'none', chats.length) : undefined;
  const messages = chats.length + (again ? 1 : 0);
  await untilEnded(harness, project, messages);
  const retried = scene.expected === 'Unknown' ? await retryUnknown(harness, project) : undefined;
  if (retried?.run !== undefined) await untilEnded(harness, project, messages + 1);
  const isOwn = <T extends { scene: string }>(all: readonly T[]) =>
    all.filter((one) => one.scene === scene.id);
  return {
    scene,
    hits: play.hits,
    chats,
    ...(again && { again }),
    runs: await recordsOf(harness, project),
    requests: isOwn(harness.wire.requests),
    effects: isOwn(harness.wire.effects),
    memories: await memoriesOf(harness, project),
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
