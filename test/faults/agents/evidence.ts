/** What records and the run store say of the project of a scene. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MemoryTurn } from '../../../api/memory.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { readDayUsage } from '../../../runs/budget.ts';
import { listMemories, readMemory } from '../../../runs/memoryList.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil } from '../../support/time/poll.ts';
import type { AgentRun, Charges } from './seen.ts';
import type { AgentHarness, SceneProject } from './harness.ts';
import { AGENT } from './workflows.ts';

const EVERY_MS = 100;
const READ_WITHIN_MS = 10_000;
const ENDED_WITHIN_MS = 60_000;

/** The runs of the project, in the order of their acceptance. */
export async function recordsOf({ base }: AgentHarness, { namespace }: SceneProject): Promise<AgentRun[]> {
  const { items } = await base.client.listAll(workflowRuns, { namespace });
  const accepted = (run: (typeof items)[number]) => run.metadata.creationTimestamp ?? '';
  return items
    .toSorted((a, b) => accepted(a).localeCompare(accepted(b)))
    .map(({ metadata: { name: run }, spec, status = {} }) => ({
      run,
      workflow: spec.workflow,
      phase: status.phase ?? 'Pending',
      ...(status.reason !== undefined && { reason: status.reason }),
      ...(status.message !== undefined && { message: status.message }),
      tokens: status.usage?.tokens ?? 0,
      ...(spec.retryOf !== undefined && { retryOf: spec.retryOf }),
    }));
}

/** The memories of the agent, one for each session. */
export async function memoriesOf(
  { direct }: AgentHarness,
  { uid, uids: { agent } }: SceneProject,
): Promise<MemoryTurn[][]> {
  const listed = await listMemories(direct, uid, agent, { limit: 100 });
  if (isUnavailable(listed)) throw new Error('the run store did not list the memories');
  return Promise.all(
    listed.items.map(async (space) => {
      const read = await readMemory(direct, uid, agent, space);
      return read.outcome === 'read' ? read.turns.map((text) => JSON.parse(text) as MemoryTurn) : [];
    }),
  );
}

export type ChargesWatch = { read(): Promise<Charges>; stop(): void };

/** Reads again and again what is charged, so that no moment above a budget is missed for long. */
export function watchCharges({ direct }: AgentHarness, { uid, uids: { agent } }: SceneProject): ChargesWatch {
  const seen: Charges = { day: 0, mostDay: 0, mostRun: 0 };
  const stopping = new AbortController();
  const read = async (): Promise<boolean> => {
    const usage = await readDayUsage(direct, uid, agent);
    if (usage && isUnavailable(usage)) return false;
    const runs = (await direct.command('zrange', keysOf(uid).runs(agent), 0, -1)) as string[];
    for (const run of runs) {
      const tokens = await direct.command('hget', keysOf(uid).run(run), 'tokens');
      seen.mostRun = Math.max(seen.mostRun, Number(tokens ?? 0));
    }
    seen.day = usage?.tokens ?? 0;
    seen.mostDay = Math.max(seen.mostDay, seen.day);
    return true;
  };
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // Redis may be away.
      await read().catch(() => false);
      await delay(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  void watch();
  return {
    read: async () => {
      await pollUntil('what is charged', read, { timeoutMs: READ_WITHIN_MS });
      return seen;
    },
    stop: () => stopping.abort(),
  };
}

/** Waits for the ends of so many runs of the agent, and of their child runs; gives up in silence. */
export async function untilEnded(harness: AgentHarness, project: SceneProject, runs: number): Promise<void> {
  const areEnded = async () => {
    const records = await recordsOf(harness, project);
    const isWhole = records.filter(({ workflow }) => workflow === AGENT).length >= runs;
    return isWhole && records.every(({ phase }) => ['Succeeded', 'Failed', 'Cancelled'].includes(phase));
  };
  const options = { timeoutMs: ENDED_WITHIN_MS, everyMs: 200 };
  await pollUntil('the ends of all runs', areEnded, options).catch(() => undefined);
}
