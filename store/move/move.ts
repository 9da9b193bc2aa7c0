/**
 * Moves the data of the run store to other servers (docs/operations.md). Each step can be interrupted, and
 * the next call continues: nothing is opened in the target before all of it was compared.
 */
import { randomUUID } from 'node:crypto';
import { durabilityProblems } from '../durability.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { closeMoved, openMoved } from './closing.ts';
import { compareAll, type Compared } from './compare.ts';
import { copyAll, createCopier, removeOthers } from './copy.ts';
import {
  readCopied,
  readSourceMark,
  readTargetMark,
  writeCopied,
  writeSourceMark,
  writeTargetMark,
} from './marks.ts';
import { countKeys, isEmpty, NO_PROJECT } from './pages.ts';
import { factsIn, planOf, programsIn, serverProblems, whyNotCancelled, type Plan } from './plan.ts';
import { MoveProblem } from './problem.ts';
import {
  MOVE_CLIENT,
  openServers,
  textAnswer,
  valueOf,
  type Call,
  type MovedStore,
  type MoveServers,
} from './servers.ts';

export { MoveProblem } from './problem.ts';
export type { MovedStore } from './servers.ts';

export type MoveReport = {
  /** What is done, and what an administrator should know. */
  tell: (line: string) => void;
  /** How far a long step is. */
  progress: (text: string) => void;
};

/** `moved`: the target has all data, and its projects are open. `dry`: nothing was written. */
export type Moved = { outcome: 'moved' | 'dry' | 'before'; projects: Compared[] };

type Stores = { source: MoveServers; target: MoveServers };

/** How long replicas of the target may take to confirm. */
const CONFIRM_MS = 30_000;

/**
 * Moves the data, or with `isDry` checks only whether it could.
 * @throws MoveProblem that says what to do
 */
export function moveStore(
  from: MovedStore,
  to: MovedStore,
  { isDry, report }: { isDry: boolean; report: MoveReport },
): Promise<Moved> {
  return withStores(from, to, async (stores) => {
    const plan = await check(stores, report);
    if (plan.step === 'refuse') throw new MoveProblem(plan.why);
    const counts = await countKeys(stores.source);
    const projects = [...counts.keys()].filter((project) => project !== NO_PROJECT);
    const keys = [...counts.values()].reduce((sum, count) => sum + count, 0);
    report.tell(`source: ${projects.length} projects, ${keys} keys`);
    if (plan.step === 'nothing') {
      report.tell(plan.why);
      return { outcome: 'before', projects: [] };
    }
    if (isDry)
      return {
        outcome: 'dry',
        projects: [...counts].map(([project, count]) => ({ project, keys: count, digest: '' })),
      };
    const compared =
      plan.step === 'open' ? [] : await copyAndCompare(stores, { plan, projects, keys, report });
    await openAll(stores, projects, report);
    return { outcome: 'moved', projects: compared };
  });
}

/**
 * Opens the projects of the source again, unless the target may be in use.
 * @throws MoveProblem
 */
export function cancelMove(from: MovedStore, to: MovedStore, report: MoveReport): Promise<void> {
  return withStores(from, to, async ({ source, target }) => {
    const marks = { source: await readSourceMark(source), target: await readTargetMark(target) };
    const why = whyNotCancelled(marks);
    if (why !== undefined) throw new MoveProblem(why);
    // First, so that a later move copies everything again.
    if (marks.target?.token === marks.source?.token) await writeCopied(target, undefined);
    const counts = await countKeys(source);
    for (const project of counts.keys()) if (project !== NO_PROJECT) await openMoved(source, project);
    await writeSourceMark(source, { state: 'cancelled' });
    report.tell('the projects of the source are open again');
  });
}

async function withStores<T>(
  from: MovedStore,
  to: MovedStore,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const source = await openServers('source', from);
  try {
    const target = await openServers('target', to);
    try {
      return await work({ source, target });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** What can be known before anything is written. @throws MoveProblem where the servers cannot be used */
async function check({ source, target }: Stores, report: MoveReport): Promise<Plan> {
  const [before, after] = [await factsOf(source), await factsOf(target)];
  for (const { facts, url, side } of [before, after]) {
    report.tell(`${side}: ${[...new Set(facts.map(({ version }) => version))].join(', ')}`);
    if (!url.includes('+cluster:') && facts.some(({ isMember }) => isMember))
      throw new MoveProblem(
        `the ${side} belongs to a Redis Cluster: give its URL as redis+cluster://host:port?replicas=N`,
      );
  }
  const [sourceMark, targetMark] = [await readSourceMark(source), await readTargetMark(target)];
  const isTargetEmpty = await isEmpty(target);
  const plan = planOf({ source: sourceMark, target: targetMark, isTargetEmpty });
  // What an earlier call copied takes room already.
  const problems = serverProblems(before.facts, after.facts).filter(
    (problem) => plan.step === 'begin' || !problem.includes('has room for'),
  );
  if (problems.length > 0) throw new MoveProblem(problems.join('; '));
  for (const problem of after.durability)
    report.tell(`warning: the target may lose data: ${problem} (docs/run-store.md)`);
  // After it is open, programs may use the target.
  if (plan.step === 'begin' || plan.step === 'continue')
    for (const store of [source, target]) await refusePrograms(store, report);
  return plan;
}

async function factsOf(store: MoveServers) {
  const infos: string[] = [];
  for (const server of store.all) infos.push(String(await textAnswer(server, ['info'])));
  const durability = [...new Set(infos.flatMap(durabilityProblems))];
  return { side: store.side, url: store.url, facts: infos.map(factsIn), durability };
}

/** @throws MoveProblem while programs of Windlass are connected */
async function refusePrograms(store: MoveServers, report: MoveReport): Promise<void> {
  for (const server of store.all) {
    const [answer] = await server.ask([['client', 'list']]);
    if (answer && 'refused' in answer) {
      report.tell(
        `warning: the account may not list the connections of the ${store.side}: make sure that all programs are stopped`,
      );
      return;
    }
    const found = programsIn(String(valueOf(answer)), MOVE_CLIENT);
    if (found.length > 0)
      throw new MoveProblem(
        `programs are connected to the ${store.side}: ${found.slice(0, 5).join(', ')}${found.length > 5 ? ' and others' : ''}. Stop operator, gateway and runners first (docs/operations.md)`,
      );
  }
}

type Copying = { plan: Plan; projects: readonly ProjectUid[]; keys: number; report: MoveReport };

async function copyAndCompare(
  stores: Stores,
  { plan, projects, keys, report }: Copying,
): Promise<Compared[]> {
  const { source, target } = stores;
  if (plan.step === 'begin') {
    const token = (await readSourceMark(source))?.token ?? randomUUID();
    await writeSourceMark(source, { token, state: 'moving', to: target.url });
    await writeTargetMark(target, { token, state: 'copying' });
  } else await writeSourceMark(source, { state: 'moving', to: target.url });
  const copier = createCopier(target, (reason) =>
    report.tell(`the keys are copied by their types, without DUMP: ${reason}`),
  );
  // Closed in the target before it has anything else, too: no operator may fill it there.
  for (const project of projects) {
    await closeMoved(source, project);
    const meta = Buffer.from(keysOf(project).meta);
    await copier.copy(source.of(meta), [meta]);
  }
  report.tell(`closed ${projects.length} projects in the source`);
  const startedAt = performance.now();
  const from = await readCopied(target);
  const copied = await copyAll(source, target, copier, {
    from,
    onProgress: (done) => report.progress(`copied ${done} of ${keys} keys`),
  });
  if (plan.step === 'continue') await removeOthers(source, target);
  report.tell(
    `copied ${copied} keys${from ? ', after those of an earlier call' : ''}, ${rate(copied, startedAt)}`,
  );
  return compare(stores, keys, report);
}

async function compare({ source, target }: Stores, keys: number, report: MoveReport): Promise<Compared[]> {
  const startedAt = performance.now();
  const { projects, differences, shown } = await compareAll(source, target, (done) =>
    report.progress(`compared ${done} of ${keys} keys`),
  );
  if (differences > 0) {
    await writeCopied(target, undefined);
    throw new MoveProblem(
      `${differences} keys differ, because somebody wrote to the source or the target: ${shown.join('; ')}${differences > shown.length ? '; …' : ''}. Stop who writes, and call the command again: it copies everything again`,
    );
  }
  const compared = projects.reduce((sum, each) => sum + each.keys, 0);
  report.tell(`compared ${compared} keys, ${rate(compared, startedAt)}: all are the same`);
  await confirmed(target);
  await writeTargetMark(target, { state: 'verified' });
  return projects;
}

/** From the first open project on the target may be in use, so that nothing is copied any more. */
async function openAll(
  { source, target }: Stores,
  projects: readonly ProjectUid[],
  report: MoveReport,
): Promise<void> {
  for (const project of projects) await openMoved(target, project);
  await writeTargetMark(target, { state: 'done' });
  await confirmed(target);
  await writeSourceMark(source, { state: 'moved' });
  report.tell(`opened ${projects.length} projects in the target; those of the source stay closed`);
}

/** Waits for the replicas of the target. @throws MoveProblem where too few confirm */
async function confirmed({ all, replicas }: MoveServers): Promise<void> {
  if (replicas === 0) return;
  for (const server of all) {
    const call: Call = ['wait', replicas, CONFIRM_MS];
    if (Number(await textAnswer(server, call)) < replicas)
      throw new MoveProblem(
        `too few replicas of the target confirm: ${replicas} have to. Repair them, and call the command again`,
      );
  }
}

function rate(keys: number, startedAt: number): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  return `${seconds.toFixed(1)} s, ${Math.round(keys / Math.max(seconds, 0.001))} keys/s`;
}
