/**
 * What the run store itself can take: events accepted, and runs executed with every mark and checkpoint,
 * fsync always.
 */
import { advance } from '../../runs/advance.ts';
import { claimRuns } from '../../runs/claim.ts';
import { connectRunStore, type RunStoreConnection } from '../../store/connection.ts';
import { openProject } from '../../runs/project.ts';
import { submit } from '../../runs/submit.ts';
import type { Claim } from '../../runs/types/claim.ts';
import type { NodeStart, NodeState } from '../../runs/types/node.ts';
import type { Submission } from '../../runs/types/submission.ts';
import { startRedis } from '../support/runStore/redis.ts';
import { median, type Figure } from './report.ts';

const PROJECT = 'bench';
const IN_FLIGHT = 32;
const ROUNDS = 5;
const RUNS = 10_000;

const event: Submission = {
  project: PROJECT,
  workflow: 'orders',
  workflowUid: '5f0d7f0e-6a5b-4c0e-9d55-0d8e7a5b3c11',
  revision: 'orders-1',
  trigger: 'webhook',
  input: JSON.stringify({
    text_content: '',
    data_content: { items: [{ name: 'desk', price: 100 }], customer: 'Ada' },
  }),
  bodyHash: 'a'.repeat(40),
  test: false,
};

/** Medians of five rounds of ten thousand runs, with 32 calls under way over one connection. */
export async function store(): Promise<Figure[]> {
  const redis = await startRedis();
  const conn = connectRunStore({ url: redis.url, name: 'bench' });
  try {
    await conn.ready();
    await openProject(conn, PROJECT, { quotaBytes: 8 * 2 ** 30 });
    const rounds: Record<'submits' | 'oneNode' | 'threeNodes', number>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const submits = await perSecond(() => inFlight(RUNS, () => accept(conn)));
      const oneNode = await perSecond(() => execute(conn, RUNS / 2, 1));
      const threeNodes = await perSecond(() => execute(conn, RUNS / 2, 3));
      rounds.push({
        submits: submits * RUNS,
        oneNode: (oneNode * RUNS) / 2,
        threeNodes: (threeNodes * RUNS) / 2,
      });
    }
    const of = (name: 'submits' | 'oneNode' | 'threeNodes') => median(rounds.map((round) => round[name]));
    return [
      { name: 'submits', value: of('submits'), unit: 'submits/s' },
      { name: 'runs with one node', value: of('oneNode'), unit: 'runs/s' },
      { name: 'runs with three nodes', value: of('threeNodes'), unit: 'runs/s' },
    ];
  } finally {
    await conn.close();
    await redis.stop();
  }
}

/** How often a second the work could be done. */
export async function perSecond(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return 1_000 / (performance.now() - begin);
}

/** Makes so many calls, 32 of them at a time. */
export async function inFlight(total: number, call: () => Promise<void>): Promise<void> {
  let left = total;
  const client = async () => {
    while ((left -= 1) >= 0) await call();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
}

async function accept(conn: RunStoreConnection): Promise<void> {
  const { outcome } = await submit(conn, event);
  if (outcome !== 'accepted') throw new Error(`not accepted: ${outcome}`);
}

/** Claims and executes as many runs, each with a mark and a checkpoint per node. */
async function execute(conn: RunStoreConnection, total: number, nodes: number): Promise<void> {
  for (let done = 0; done < total; ) {
    const claimed = await claimRuns(conn, {
      project: PROJECT,
      runner: 'bench',
      max: Math.min(IN_FLIGHT, total - done),
    });
    if (claimed.outcome !== 'claimed' || claimed.claims.length === 0) throw new Error('nothing was ready');
    await Promise.all(claimed.claims.map((claim) => executeOne(conn, claim, nodes)));
    done += claimed.claims.length;
  }
}

async function executeOne(conn: RunStoreConnection, { token, state }: Claim, nodes: number): Promise<void> {
  const ref = { project: PROJECT, run: state.run, token };
  const trigger: NodeState = { id: 'trigger', phase: 'Succeeded', attempts: 1, outputIsInput: true };
  await advance(conn, ref, { checkpoints: [trigger], starts: [start(1)] });
  for (let node = 1; node < nodes; node += 1)
    await advance(conn, ref, { checkpoints: [end(node)], starts: [start(node + 1)] });
  const { outcome } = await advance(conn, ref, { checkpoints: [end(nodes)], end: { phase: 'Succeeded' } });
  if (outcome !== 'done') throw new Error(`not ended: ${outcome}`);
}

function start(node: number): NodeStart {
  return { id: `node_${node}`, attempt: 1, atMostOnce: false, at: Date.now() };
}

function end(node: number): NodeState {
  return {
    id: `node_${node}`,
    phase: 'Succeeded',
    attempts: 1,
    startedAt: Date.now(),
    endedAt: Date.now(),
    output: { text_content: 'Thank you for your order of a desk.', data_content: { sent: true } },
  };
}
