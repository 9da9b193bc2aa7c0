/** Plays all scenes of agents, and answers with what broke. */
import type { Violation } from '../violation.ts';
import { checkScene } from './checker.ts';
import { playScene } from './play.ts';
import type { Scene } from './points.ts';
import { OWN_SCENES, SHARED_SCENES } from './scenes.ts';
import type { SceneEvidence } from './seen.ts';
import type { AgentHarness } from './harness.ts';
import { createTogether } from './strike.ts';

export type AgentOptions = {
  harness: AgentHarness;
  /** The scenes whose ID begins with one of these; none: all. */
  only: readonly string[];
  /** How many scenes are played at the same time. */
  atOnce: number;
  tell: (line: string) => void;
};

export type AgentResult = { violations: Violation[]; rows: string[] };

/** Scenes that kill Redis or the gateways are played after the others. */
export async function runAgents({ harness, only, atOnce, tell }: AgentOptions): Promise<AgentResult> {
  const isChosen = ({ id }: Scene) => only.length === 0 || only.some((word) => id.startsWith(word));
  const results: Result[] = [];
  const play = async (scene: Scene, together = createTogether(harness, 1)): Promise<void> => {
    const result = await playOne(harness, scene, together);
    results.push(result);
    tell(`${scene.id}: ${scene.name}${result.violations.map(({ message }) => `\n  ✗ ${message}`).join('')}`);
  };
  const left = OWN_SCENES.filter(isChosen);
  const work = async (): Promise<void> => {
    for (let scene = left.shift(); scene; scene = left.shift()) await play(scene);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  for (const scenes of SHARED_SCENES) {
    const chosen = scenes.filter(isChosen);
    const together = createTogether(harness, chosen.length);
    await Promise.all(chosen.map((scene) => play(scene, together)));
  }
  return { violations: results.flatMap(({ violations }) => violations), rows: rowsOf(results) };
}

type Result = { scene: Scene; evidence?: SceneEvidence; violations: Violation[] };

/** What the suite itself could not do is a violation too: such a scene shows nothing. */
async function playOne(
  harness: AgentHarness,
  scene: Scene,
  together: ReturnType<typeof createTogether>,
): Promise<Result> {
  try {
    const evidence = await playScene(harness, scene, together);
    return { scene, evidence, violations: checkScene(evidence) };
  } catch (error) {
    // Others with the same hits do not wait for it.
    void together([]);
    const message = `${scene.id}: ${error instanceof Error ? error.message : String(error)}`;
    return { scene, violations: [{ kind: 'not-reached', event: scene.id, message }] };
  }
}

function rowsOf(results: readonly Result[]): string[] {
  const order = [...OWN_SCENES, ...SHARED_SCENES.flat()].map(({ id }) => id);
  const sorted = results.toSorted((a, b) => order.indexOf(a.scene.id) - order.indexOf(b.scene.id));
  const broken = results.reduce((sum, { violations }) => sum + violations.length, 0);
  const faults = results.reduce((sum, { evidence }) => sum + (evidence?.hits ?? 0), 0);
  return [
    `${results.length} scenes with ${faults} faults, each at its point. Promises broken: ${broken}.`,
    '',
    '| scene | fault | end | mails | requests to the model | of them repeated | streams of the chat |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...sorted.map(rowOf),
  ];
}

function rowOf({ scene, evidence }: Result): string {
  const { requests = [], effects = [], chats = [], hits = 0 } = evidence ?? {};
  const answers = new Set(requests.map(({ key }) => key)).size;
  const mails = effects.filter(({ tool }) => tool === 'mail').length;
  const streams = chats.reduce((sum, chat) => sum + chat.streams, 0);
  const end = hits < scene.blows.length ? 'not reached' : scene.expected;
  const cells = [scene.id, scene.name, end, mails, requests.length, requests.length - answers, streams];
  return `| ${cells.join(' | ')} |`;
}
