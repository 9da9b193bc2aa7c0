/**
 * A project whose runners sleep and wake: scene after scene, each once the runners sleep, until what came
 * meanwhile has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deployments } from '../../../kube/resource.ts';
import { pollUntil } from '../../support/time/poll.ts';
import type { Flow } from '../flows/checker.ts';
import {
  callBack,
  createPlay,
  ended,
  inject,
  reach,
  resultOf,
  start,
  type FlowOptions,
  type FlowResult,
  type Play,
} from '../flows/run.ts';
import { DUE_SECONDS, type FlowKind } from '../flows/workflows.ts';
import type { StormFault } from '../storm/scenes.ts';
import type { Violation } from '../violation.ts';
import { SLEEP_SCENES, type SleepScene } from './scenes.ts';
import { startTick } from './tick.ts';

/** Of the project. The operator reads its work every five seconds. */
export const SLEEP_AFTER = '2s';

const ASLEEP_WITHIN_MS = 60_000;
const RUNNER_WITHIN_MS = 60_000;
const WAITING_WITHIN_MS = 60_000;
const ASLEEP_EVERY_MS = 20;
/** So long before a wait is due its scene begins: the project wakes ten seconds before. */
const BEFORE_DUE_MS = 14_000;
const SEVERAL = 3;
const WITH_EVENTS: readonly FlowKind[] = ['once', 'parent', 'callback'];

/** Never throws for what the system did: that is a violation. */
export async function runSleepScenes(options: FlowOptions): Promise<FlowResult> {
  const play = createPlay({ ...options, mails: Math.min(options.mails, 20) });
  const awake: Violation[] = [];
  const lines: string[] = [];
  try {
    for (const scene of SLEEP_SCENES) {
      play.tell(`scene: ${scene.name}`);
      const isPlayed = await playScene(play, scene);
      if (!isPlayed) awake.push({ kind: 'not-reached', message: `runners stayed awake: ${scene.name}` });
      lines.push(`- ${scene.name}`);
    }
  } finally {
    play.attempts.close();
  }
  const { violations, rows } = await resultOf(play, lines);
  const told = (text: string) =>
    play.harness.programs.operator.flatMap((kept) => kept.log()).filter((line) => line.includes(text)).length;
  const slept = `Runners fell asleep ${told('letting runners sleep')} times and were woken ${told('waking runners')} times.`;
  return { violations: [...awake, ...violations], rows: [...rows, '', slept] };
}

/** Whether the runners slept when it began. */
async function playScene(play: Play, scene: SleepScene): Promise<boolean> {
  const first = play.flows.length;
  const { at, eventsAfter, callsAfter } = scene;
  const waiting = callsAfter === undefined ? [] : several(() => start(play, 'callback', false));
  if (at === 'due') several(() => start(play, 'due'));
  await reach(play, play.flows.slice(first), { phases: ['Waiting'], timeoutMs: WAITING_WITHIN_MS });
  const dueAt = performance.now() + DUE_SECONDS * 1_000;
  const isAsleep = await untilAsleep(play, at === 'falling');
  if (at === 'due') await delay(Math.max(0, dueAt - BEFORE_DUE_MS - performance.now()));
  const isHit = scene.faults.some(({ kind }) => kind === 'lose-store');
  for (const flow of waiting) flow.isHit = isHit;
  await Promise.all([
    ...scene.faults.map((fault) => injectOnce(play, fault)),
    sendEvents(play, eventsAfter),
    ...waiting.map((flow) => callLater(play, flow, callsAfter ?? 0)),
  ]);
  await ended(play, play.flows.slice(first));
  return isAsleep;
}

const several = (make: () => Flow): Flow[] => Array.from({ length: SEVERAL }, make);

async function sendEvents(play: Play, after: number | undefined): Promise<void> {
  if (after === undefined) return;
  await delay(after * 1_000);
  for (const kind of WITH_EVENTS) start(play, kind);
  startTick(play);
}

async function callLater(play: Play, flow: Flow, after: number): Promise<void> {
  await delay(after * 1_000);
  await callBack(play, flow);
}

/** A runner can be killed as soon as there is one. */
async function injectOnce(play: Play, fault: StormFault): Promise<void> {
  const { runner } = play.harness.programs;
  const isThere = async () => fault.kind !== 'kill-runner' || runner.length > 0;
  await pollUntil('a runner', isThere, { timeoutMs: RUNNER_WITHIN_MS }).catch(() => undefined);
  if (await isThere()) await inject(play, fault);
}

/**
 * Whether it came to that. `isFalling`: the Deployment asks for no runner, and the last one may still end.
 */
async function untilAsleep({ harness }: Play, isFalling: boolean): Promise<boolean> {
  const { base, project, programs } = harness;
  const ref = { namespace: project, name: 'windlass-runner' };
  const isAsleep = async () => {
    const { spec } = await base.client.get(deployments, ref);
    return spec?.replicas === 0 && (isFalling || programs.runner.length === 0);
  };
  const options = { timeoutMs: ASLEEP_WITHIN_MS, everyMs: ASLEEP_EVERY_MS };
  return pollUntil('sleep', isAsleep, options).then(
    () => true,
    () => false,
  );
}
