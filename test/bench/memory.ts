/**
 * `memory`: what gateway, operator and runner take with 1,000 workflows and 10,000 records, idle and after
 * 50,000 and 100,000 runs. What grows with the runs would show in the second half as much as in the first.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { workflows } from '../../operator/shared/resources.ts';
import { createObject, writeStatus } from '../../runs/record/object.ts';
import type { RunState } from '../../runs/types/run.ts';
import type { OperatorHarness } from '../support/operator/operatorHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { EVENT } from './accept.ts';
import { inParallel } from './inParallel.ts';
import { sendPaced } from './paced.ts';
import { memoryOf, type ProcessMemory } from './processMemory.ts';
import type { Figure } from './report.ts';
import { openWhole, type Program, type Project, type Whole } from './whole.ts';

/** For trying the script: 0.1 makes a tenth of everything. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const WORKFLOWS = 1_000 * SCALE;
/**
 * As many as the default history keeps of each workflow: what is recorded then takes the place of what is
 * pruned.
 */
const RECORDS_EACH = 10;
const HALF = 50_000 * SCALE;
const TOLD = { half: HALF.toLocaleString('en-GB'), all: (2 * HALF).toLocaleString('en-GB') };
const PER_SECOND = 1_000;
const AT_ONCE = 5_000;
/** Nothing more is sent while so many runs wait, so that a slow machine is measured as well. */
const BACKLOG = 1_000;
/** Counting asks for each workflow. */
const COUNT_EVERY_MS = 2_000;
/** From the end of the last run: recorders, caches and the collector come to rest. */
const REST_MS = 20_000;
/** The chart's limit of each program. */
const LIMIT_MIB = 512;
/** What the second half may add, beside the noise of a few MiB that a collector leaves. */
const GROWTH = 1.1;

const SPEC: WorkflowSpec = {
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'new' } },
    {
      id: 'sum',
      skill: { name: 'set', parameters: { values: { total: 'nodes.trigger.data_content.total * 1.2' } } },
    },
    {
      id: 'note',
      skill: { name: 'set', parameters: { values: { paid: 'nodes.sum.data_content.total > 20.0' } } },
    },
  ],
};

export async function memory(): Promise<Figure[]> {
  console.error(`preparing ${WORKFLOWS} workflows with ${RECORDS_EACH} records each`);
  const whole = await openWhole({ projects: 1, workflowsEach: WORKFLOWS, spec: SPEC, prepare: makeRecords });
  try {
    const idle = await atRest(whole, 'idle');
    await execute(whole, HALF);
    const half = await atRest(whole, `${TOLD.half} runs`);
    await execute(whole, HALF);
    const all = await atRest(whole, `${TOLD.all} runs`);
    return whole.programs.flatMap((program, at) => figuresOf(program, [idle[at], half[at], all[at]]));
  } finally {
    await whole.close();
  }
}

/** Records of runs that have ended, written as runners write them. */
async function makeRecords({ client: kube }: OperatorHarness, { namespace, uid }: Project): Promise<void> {
  const { items } = await kube.listAll(workflows, { namespace });
  const target = { kube, namespace, store: 'an-earlier-one' };
  await inParallel(WORKFLOWS * RECORDS_EACH, 16, async (index) => {
    const workflow = items[index % WORKFLOWS];
    const name = workflow?.metadata.name ?? '';
    const state = endedRun(`${name}-${index}`, uid, name, workflow?.metadata.uid ?? '');
    const object = await createObject(target, state);
    if (object === undefined) throw new Error(`The record ${state.run} cannot be made.`);
    await writeStatus(target, state, object, ['trigger', 'sum', 'note']);
  });
}

function endedRun(run: string, project: string, workflow: string, workflowUid: string): RunState {
  const at = Date.now();
  const times = { startedAt: at, endedAt: at };
  const output = { text_content: 'total', data_content: { total: 25.2 } };
  return {
    run,
    project,
    workflow,
    workflowUid,
    group: workflowUid,
    revision: `${workflow}-1`,
    trigger: 'webhook',
    test: false,
    phase: 'Succeeded',
    epoch: 1,
    sequence: 4,
    acceptedAt: at,
    ...times,
    cancelRequested: false,
    crashes: 0,
    input: `{"text_content":"","data_content":${EVENT}}`,
    nodes: [
      { id: 'trigger', phase: 'Succeeded', attempts: 1, ...times, outputIsInput: true },
      { id: 'sum', phase: 'Succeeded', attempts: 1, ...times, output },
      { id: 'note', phase: 'Succeeded', attempts: 1, ...times, output },
    ],
  };
}

/**
 * Sends events, alternately to all workflows, until so many are accepted, and waits until their runs have
 * ended. What a machine that is too busy refuses is sent again.
 */
async function execute({ hooks: urls, counts }: Whole, total: number): Promise<void> {
  const { ended: before } = await counts();
  for (let sent = 0; sent < total; ) {
    const rest = Math.min(AT_ONCE, total - sent);
    const { accepted, others } = await sendPaced({ urls, perSecond: PER_SECOND, total: rest, body: EVENT });
    if (accepted === 0) throw new Error(`Nothing was accepted: ${JSON.stringify([...others])}`);
    sent += accepted;
    await pollUntil('a smaller backlog', async () => (await counts()).active < BACKLOG, {
      timeoutMs: 300_000,
      everyMs: COUNT_EVERY_MS,
    });
    console.error(`${sent} of ${total} accepted`);
  }
  const all = async () => {
    const { ended, failed } = await counts();
    if (failed > 0) throw new Error(`${failed} runs failed`);
    return ended >= before + total;
  };
  await pollUntil(`the end of ${total} runs`, all, { timeoutMs: 300_000, everyMs: COUNT_EVERY_MS });
}

async function atRest({ programs }: Whole, when: string): Promise<ProcessMemory[]> {
  await delay(REST_MS);
  const found: ProcessMemory[] = [];
  for (const program of programs) {
    const memory = await memoryOf(program);
    found.push(memory);
    const [rss, live, most] = [memory.rssMiB, memory.liveMiB, memory.mostMiB].map((mib) => mib.toFixed(1));
    console.error(`${when}: ${program.name}: RSS ${rss} MiB (most ${most}), in use ${live} MiB`);
  }
  return found;
}

function figuresOf({ name: program }: Program, measured: (ProcessMemory | undefined)[]): Figure[] {
  const [idle, half, all] = measured;
  if (!idle || !half || !all) throw new Error(`${program} was not measured three times`);
  const name = program.startsWith('runner') ? 'runner' : program;
  const after = (what: 'rssMiB' | 'liveMiB', words: string): Figure[] => [
    { name: `${name}, ${words}, idle`, value: idle[what], unit: 'MiB' },
    { name: `${name}, ${words}, after ${TOLD.half} runs`, value: half[what], unit: 'MiB' },
    {
      name: `${name}, ${words}, after ${TOLD.all} runs`,
      value: all[what],
      unit: 'MiB',
      ratio: { to: `after ${TOLD.half}`, value: all[what] / half[what] },
      goal: { at: 'most', value: GROWTH, of: 'ratio' },
    },
  ];
  return [
    ...after('rssMiB', 'RSS'),
    ...after('liveMiB', 'heap in use'),
    {
      name: `${name}, most RSS`,
      value: all.mostMiB,
      unit: 'MiB',
      ratio: { to: `the limit of ${LIMIT_MIB} MiB`, value: all.mostMiB / LIMIT_MIB },
      goal: { at: 'most', value: 0.8, of: 'ratio' },
    },
  ];
}
