/** Plays the scenes of the flows, and answers with what broke. */
import { setTimeout as delay } from 'node:timers/promises';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import type { ReceivedMail } from '../../support/providers/mail/mailServer.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { createAttempts } from '../attempt.ts';
import { injectStorm } from '../storm/inject.ts';
import type { StormHarness } from '../storm/harness.ts';
import { needsShim, scenesOf, type Scene } from '../storm/scenes.ts';
import type { Violation } from '../violation.ts';
import { checkFlows, type Flow, type FlowEffect, type FlowRun } from './checker.ts';
import { FLOW_SCENES, LOSSES, RESUMING, type FlowScene } from './scenes.ts';
import type { FlowSink } from './sink.ts';
import { RESUMED_KINDS, type FlowKind } from './workflows.ts';

export type FlowOptions = {
  harness: StormHarness;
  sink: FlowSink;
  /** How often the scenes come. */
  rounds: number;
  /** After the chosen scenes of a round, so many of overlapping faults by the seed. */
  scenes: number;
  seed: number;
  /** Mails of each loop. */
  mails: number;
  tell: (line: string) => void;
};

export type FlowResult = { violations: Violation[]; rows: string[] };

/** Runs end so long after the last fault, at the latest. */
const ENDED_WITHIN_MS = 120_000;
const SEND_WITHIN_MS = 90_000;
const RETRY_MS = 300;
const START_EVERY_MS = 1_000;
/** A record of an unfinished run comes about a second late; what ends sooner is not waited for. */
const RECORDED_WITHIN_MS = 4_000;
const HIT_BY_LOSS = 4;
const TERMINAL = ['Succeeded', 'Failed', 'Cancelled'];

export type Play = FlowOptions & {
  flows: Flow[];
  attempts: ReturnType<typeof createAttempts>;
  /** What still sends events and calls. */
  sending: Promise<void>[];
  faults: number;
};

export function createPlay(options: FlowOptions): Play {
  return { ...options, flows: [], attempts: createAttempts(), sending: [], faults: 0 };
}

/** Never throws for what the system did: that is a violation. */
export async function runFlows(options: FlowOptions): Promise<FlowResult> {
  const play = createPlay(options);
  const scenes: string[] = [];
  const others = scenesOf(options.seed);
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      start(play, 'repeated');
      start(play, 'once');
      for (const scene of FLOW_SCENES) scenes.push(await playScene(play, scene));
      for (let count = 0; count < options.scenes; count += 1)
        scenes.push(await playScene(play, otherScene(play, others.next().value as Scene)));
      scenes.push(await resumeFailed(play));
      const loss = LOSSES[round % LOSSES.length];
      if (loss) scenes.push(await loseStore(play, loss));
    }
    await ended(play, play.flows);
  } finally {
    play.attempts.close();
  }
  return resultOf(play, scenes);
}

/** What broke, and what became of the flows. `scenes`: a line each. */
export async function resultOf(play: Play, scenes: readonly string[]): Promise<FlowResult> {
  const [runs, mails] = await Promise.all([listed(play), received(play)]);
  const evidence = { flows: play.flows, runs, mails, calls: play.sink.calls };
  const violations = checkFlows(evidence);
  return { violations, rows: [...rowsOf(evidence, violations), '', ...scenes] };
}

/** Without faults that this machine cannot do. */
function otherScene({ harness }: Play, { name, faults }: Scene): FlowScene {
  const possible = faults.filter((fault) => harness.shims !== undefined || !needsShim(fault));
  return { name, starts: 'often', faults: possible };
}

async function playScene(play: Play, scene: FlowScene): Promise<string> {
  play.tell(`scene: ${scene.name}`);
  const stopping = new AbortController();
  const starting = scene.starts === 'often' ? startAgainAndAgain(play, stopping.signal) : undefined;
  if (scene.starts === 'once') for (const kind of SMALL) start(play, kind);
  await Promise.all(scene.faults.map((fault) => inject(play, fault)));
  stopping.abort();
  await starting;
  return `- ${scene.name}: ${scene.faults.map(({ kind, after }) => `${kind} (${after} s)`).join(', ')}`;
}

/** Does the fault when its time has come. */
export async function inject(play: Play, fault: FlowScene['faults'][number]): Promise<void> {
  await delay(fault.after * 1_000);
  play.faults += 1;
  await injectStorm(play.harness, fault, {
    begun: (target) => play.tell(`${fault.kind}: ${target}`),
    lost: ({ runs }) => play.tell(`lost the run store with ${runs.length} runs`),
    slipped: () => undefined,
  });
}

const SMALL: readonly FlowKind[] = ['parent', 'callback', 'failing', 'grouped'];

async function startAgainAndAgain(play: Play, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const kind of SMALL) start(play, kind);
    await delay(START_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Sends an event until it is accepted, and calls the URL of its callback until that is. */
export function start(play: Play, kind: FlowKind, isCalledNow = true): Flow {
  const flow: Flow = { kind, event: `ev-${kind}-${play.flows.length}` };
  if (kind === 'repeated' || kind === 'once') flow.mails = play.mails;
  play.flows.push(flow);
  const url = `${play.harness.publicURL}/webhook/${play.harness.project}.${kind}/in`;
  const items = Array.from({ length: flow.mails ?? 0 }, (_, index) => `n${index}@example.com`);
  const body = JSON.stringify({ event: flow.event, items });
  const send = async (): Promise<void> => {
    const answer = await sendUntil(play, { url, body, headers: { 'idempotency-key': flow.event } });
    if (answer?.run !== undefined) flow.run = answer.run;
    if (kind === 'callback' && isCalledNow) await callBack(play, flow);
  };
  play.sending.push(send());
  return flow;
}

async function sendUntil(play: Play, outgoing: Parameters<Play['attempts']['send']>[0]) {
  const deadline = performance.now() + SEND_WITHIN_MS;
  while (performance.now() < deadline) {
    const attempt = await play.attempts.send(outgoing, 'new');
    if (attempt.status !== undefined && attempt.status >= 200 && attempt.status < 300) return attempt;
    await delay(RETRY_MS);
  }
  return undefined;
}

/** Calls the URL until it answers 200, then once more. */
export async function callBack(play: Play, flow: Flow): Promise<void> {
  const find = () => play.sink.calls.find(({ place, event }) => place === '/ask' && event === flow.event);
  const ask = await pollUntil(`the URL of ${flow.event}`, find, { timeoutMs: SEND_WITHIN_MS }).catch(
    () => undefined,
  );
  const url = String(ask?.body?.['url']).replace(/^https?:\/\/[^/]+/, play.harness.publicURL);
  if (!ask) return;
  const call = { url, body: JSON.stringify({ said: flow.event }), headers: {} };
  flow.isCalled = (await sendUntil(play, call)) !== undefined;
  await play.attempts.send({ ...call, body: JSON.stringify({ said: 'a repetition' }) }, 'new');
}

async function listed({ harness: { base, project } }: Play): Promise<FlowRun[]> {
  const { items } = await base.client.listAll(workflowRuns, { namespace: project });
  return items.map(({ metadata, status = {} }) => ({
    run: metadata.name,
    phase: status.phase ?? 'Pending',
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.message !== undefined && { message: status.message }),
  }));
}

/** Waits until the records of all these flows have one of the phases; gives up in silence. */
export async function reach(
  play: Play,
  flows: readonly Flow[],
  { phases, timeoutMs }: { phases: readonly string[]; timeoutMs: number },
): Promise<void> {
  await Promise.all(play.sending.splice(0));
  const areReached = async () => {
    const byName = new Map((await listed(play)).map((run) => [run.run, run.phase]));
    return flows.every(({ run = '', resumed = run }) => phases.includes(byName.get(resumed) ?? ''));
  };
  await pollUntil('the phases', areReached, { timeoutMs, everyMs: 500 }).catch(() => undefined);
}

/** Waits until the records of these flows have ended; gives up in silence. */
export const ended = (play: Play, flows: readonly Flow[]) =>
  reach(play, flows, { phases: TERMINAL, timeoutMs: ENDED_WITHIN_MS });

/** Resumes every failed flow, and kills what executes it. */
async function resumeFailed(play: Play): Promise<string> {
  await ended(play, play.flows);
  const failed = play.flows.filter(
    ({ kind, resumed }) => RESUMED_KINDS.includes(kind) && resumed === undefined,
  );
  await resumeAll(play, failed);
  const line = await playScene(play, RESUMING);
  await ended(play, failed);
  return line;
}

async function resumeAll(play: Play, failed: readonly Flow[]): Promise<void> {
  const byName = new Map((await listed(play)).map((run) => [run.run, run]));
  play.tell(`resume ${failed.length} runs`);
  for (const flow of failed) {
    play.sink.mend(flow.event);
    const run = byName.get(flow.run ?? '');
    if (run?.phase === 'Failed') flow.resumed = await resume(play, flow.kind, run);
  }
}

async function resume(
  { harness: { base, project } }: Play,
  workflow: FlowKind,
  { run, reason }: FlowRun,
): Promise<string> {
  const name = `${run}-resumed`;
  const decision = { node: 'mail', outcome: 'AssumeDone' as const, output: { data_content: {} } };
  const spec = {
    workflow,
    retryOf: run,
    resume: true,
    ...(reason === 'EffectUnknown' && { decisions: [decision] }),
  };
  await base.client.create(workflowRuns, { metadata: { namespace: project, name }, spec });
  return name;
}

/** Flows of each kind are on the way when the run store loses its data. Callbacks are called afterwards. */
async function loseStore(play: Play, scene: FlowScene): Promise<string> {
  const failing = RESUMED_KINDS.flatMap((kind) => several(() => start(play, kind)));
  await ended(play, failing);
  const waiting = several(() => start(play, 'callback', false));
  const parents = several(() => start(play, 'parent'));
  const loops = (['repeated', 'once'] as const).map((kind) => start(play, kind));
  await resumeAll(play, failing);
  const hit = [...waiting, ...parents, ...failing, ...loops];
  await reach(play, hit, { phases: ['Waiting', 'Running'], timeoutMs: RECORDED_WITHIN_MS });
  for (const flow of hit) flow.isHit = true;
  const line = await playScene(play, scene);
  await Promise.all(waiting.map((flow) => callBack(play, flow)));
  await ended(play, hit);
  return line;
}

const several = (make: () => Flow): Flow[] => Array.from({ length: HIT_BY_LOSS }, make);

async function received({ harness }: Play): Promise<FlowEffect[]> {
  const response = await fetch(`${harness.sinks.mail}/messages`);
  const mails = (await response.json()) as ReceivedMail[];
  return mails.map(({ subject, messageId }) => ({
    place: subject,
    event: subject.split(' ')[0] ?? '',
    key: messageId,
  }));
}

function rowsOf(
  { flows, runs, mails }: { flows: readonly Flow[]; runs: readonly FlowRun[]; mails: readonly FlowEffect[] },
  violations: readonly Violation[],
): string[] {
  const byName = new Map(runs.map((run) => [run.run, run]));
  const rows = [...Map.groupBy(flows, ({ kind }) => kind)].map(([kind, of]) => {
    const phases = of.map(({ run = '', resumed = run }) => byName.get(resumed));
    const succeeded = phases.filter((run) => run?.phase === 'Succeeded').length;
    const unknown = phases.filter((run) => run?.reason === 'EffectUnknown').length;
    const sent = mails.filter(({ event }) => of.some((flow) => flow.event === event));
    const distinct = new Set(sent.map(({ place }) => place)).size;
    return `| ${kind} | ${of.length} | ${succeeded} | ${unknown} | ${distinct} | ${sent.length - distinct} |`;
  });
  return [
    '| flow | started | succeeded | effect unknown | mails | sent again |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `Promises broken: ${violations.length}.`,
  ];
}
