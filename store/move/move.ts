/**
 * Moves the data of the run store to other servers (docs/operations.md). A call that was interrupted can be
 * repeated: it continues. No project is open in the target before all data was compared.
 */
import { randomUUID } from 'node:crypto';
import { durabilityProblems } from '../durability.ts';
import { keysOf, type ProjectUid } from '../keys.ts';
import { compareAll, type ComparedProject } from './compare.ts';
import { copyAll, createCopier, removeExtraKeys } from './copy.ts';
import type { LeftState } from './interruption.ts';
import {
  changeSourceState,
  readCopyPosition,
  readSourceMark,
  readTargetMark,
  restartCopy,
  writeSourceMark,
  writeTargetMark,
} from './marks.ts';
import { countKeys, isEmpty, NO_PROJECT } from './pages.ts';
import { cancelProblem, planOf, type Plan, type TargetMark } from './plan.ts';
import { MoveProblem } from './problem.ts';
import { closeProject, reopenProject } from './projects.ts';
import { memoryProblem, parseFacts, parsePrograms, serverProblems } from './serverFacts.ts';
import {
  askForText,
  CONNECTION_NAME,
  openServers,
  valueOf,
  type Call,
  type MoveServers,
  type StoreAccess,
} from './servers.ts';

export { MoveProblem } from './problem.ts';
export type { StoreAccess } from './servers.ts';

export type MoveReport = {
  /** Reports a finished step, or a warning. */
  tell: (line: string) => void;
  /** Reports the progress of a long step. */
  progress: (text: string) => void;
  /** Reports what the call leaves if it ends now. */
  leaves: (state: LeftState) => void;
};

/**
 * `moved`: the target has all data, and its projects are open. `alreadyMoved`: an earlier call moved it.
 * `dryRun`: nothing was written, and `projects` have no digests.
 */
export type MoveResult = { outcome: 'moved' | 'alreadyMoved' | 'dryRun'; projects: ComparedProject[] };

type Stores = { source: MoveServers; target: MoveServers };

/** How long replicas of the target may take to confirm what was copied. */
const CONFIRM_MS = 30_000;
/** How long they may take before anything was written. */
const CHECK_MS = 1_000;

/** What a call that does this says about an earlier call. */
const EARLIER_CALL: Partial<Record<Plan['step'], string>> = {
  continue: 'a move to this target was interrupted: projects of the source are closed, and it continues',
  restart: 'a move to this target was cancelled: all keys are copied again',
  open: 'a move to this target was interrupted: all keys are compared, and its projects are opened',
};

/**
 * Moves the data. With `isDryRun` checks only whether that is possible.
 * @throws MoveProblem that says what to do
 */
export function moveStore(
  from: StoreAccess,
  to: StoreAccess,
  { isDryRun, report }: { isDryRun: boolean; report: MoveReport },
): Promise<MoveResult> {
  return withServers('source', from, (source) =>
    withServers('target', to, (target) => move({ source, target }, isDryRun, report)),
  );
}

async function move(stores: Stores, isDryRun: boolean, report: MoveReport): Promise<MoveResult> {
  const plan = await checkStores(stores, report);
  if (plan.step === 'refuse') throw new MoveProblem(plan.why);
  const counts = await countKeys(stores.source);
  const projects = [...counts.keys()].filter((project) => project !== NO_PROJECT);
  const keys = [...counts.values()].reduce((sum, count) => sum + count, 0);
  report.tell(`source: ${projects.length} projects, ${keys} keys`);
  if (plan.step === 'nothing') {
    report.tell(plan.why);
    return { outcome: 'alreadyMoved', projects: [] };
  }
  const earlierCall = EARLIER_CALL[plan.step];
  if (earlierCall !== undefined) report.tell(earlierCall);
  // After the keys were counted, so that a dry run tells their number while programs run. Once projects are
  // open in the target, programs may use it.
  if (plan.step !== 'open')
    for (const store of [stores.source, stores.target]) await refusePrograms(store, report);
  if (isDryRun)
    return {
      outcome: 'dryRun',
      projects: [...counts].map(([project, count]) => ({ project, keys: count, digest: '' })),
    };
  const compared =
    plan.step === 'open' ? [] : await copyAndCompare(stores, { step: plan.step, projects, keys, report });
  await openProjects(stores, projects, report);
  return { outcome: 'moved', projects: compared };
}

/**
 * Opens the projects of the source again, unless the target may be in use. The target need not be
 * reachable: a later move copies all keys again.
 * @throws MoveProblem that says why the move cannot be cancelled
 */
export function cancelMove(from: StoreAccess, to: StoreAccess, report: MoveReport): Promise<void> {
  return withServers('source', from, async (source) => {
    const marks = { source: await readSourceMark(source), target: await targetMarkIfReachable(to, report) };
    const problem = cancelProblem(marks);
    if (problem !== undefined) throw new MoveProblem(problem);
    if (marks.source?.state === 'moving') report.leaves('closed');
    // Before a project is open: a later move must not continue with what was copied so far.
    const change = { state: 'cancelled', unless: 'moved' } as const;
    if (!(await changeSourceState(source, marks.source?.token ?? '', change)))
      throw new MoveProblem('another call has finished the move meanwhile: it cannot be cancelled any more');
    const counts = await countKeys(source);
    for (const project of counts.keys()) if (project !== NO_PROJECT) await reopenProject(source, project);
    report.tell('the projects of the source are open again');
  });
}

async function targetMarkIfReachable(to: StoreAccess, report: MoveReport): Promise<TargetMark | undefined> {
  try {
    return await withServers('target', to, readTargetMark);
  } catch (error) {
    if (!(error instanceof MoveProblem)) throw error;
    report.tell(`warning: ${error.message}. It is not needed to cancel the move`);
    return undefined;
  }
}

async function withServers<T>(
  side: MoveServers['side'],
  access: StoreAccess,
  work: (servers: MoveServers) => Promise<T>,
): Promise<T> {
  const servers = await openServers(side, access);
  try {
    return await work(servers);
  } finally {
    await servers.close();
  }
}

/**
 * Checks all that can be checked before anything is written. @throws MoveProblem if the servers cannot be
 * used
 */
async function checkStores({ source, target }: Stores, report: MoveReport): Promise<Plan> {
  const [sourceFacts, targetFacts] = [await factsOf(source), await factsOf(target)];
  for (const { facts, url, side } of [sourceFacts, targetFacts]) {
    report.tell(`${side}: ${[...new Set(facts.map(({ version }) => version))].join(', ')}`);
    if (!url.includes('+cluster:') && facts.some(({ isMember }) => isMember))
      throw new MoveProblem(
        `the ${side} belongs to a Redis Cluster: give its URL as redis+cluster://host:port?replicas=N`,
      );
  }
  const [sourceMark, targetMark] = [await readSourceMark(source), await readTargetMark(target)];
  const plan = planOf({ source: sourceMark, target: targetMark, isTargetEmpty: await isEmpty(target) });
  if (sourceMark?.state === 'moving') report.leaves(plan.step === 'open' ? 'opening' : 'closed');
  const problems = serverProblems(sourceFacts.facts, targetFacts.facts);
  // After an interruption, the target already contains a part of the keys.
  const noRoom = plan.step === 'begin' ? memoryProblem(sourceFacts.facts, targetFacts.facts) : undefined;
  if (noRoom !== undefined) problems.push(noRoom);
  if (problems.length > 0) throw new MoveProblem(problems.join('; '));
  for (const problem of targetFacts.durability)
    report.tell(`warning: the target may lose data: ${problem} (docs/run-store.md)`);
  if (plan.step !== 'refuse' && plan.step !== 'nothing') await awaitReplicas(target, CHECK_MS);
  return plan;
}

async function factsOf(store: MoveServers) {
  const infos: string[] = [];
  for (const server of store.all) infos.push(String(await askForText(server, ['info'])));
  const durability = [...new Set(infos.flatMap(durabilityProblems))];
  return { side: store.side, url: store.url, facts: infos.map(parseFacts), durability };
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
    const found = parsePrograms(String(valueOf(answer)), CONNECTION_NAME);
    if (found.length > 0)
      throw new MoveProblem(
        `programs are connected to the ${store.side}: ${found.slice(0, 5).join(', ')}${found.length > 5 ? ' and others' : ''}. Stop operator, gateway and runners first (docs/operations.md)`,
      );
  }
}

type Copying = {
  step: 'begin' | 'continue' | 'restart';
  projects: readonly ProjectUid[];
  keys: number;
  report: MoveReport;
};

async function copyAndCompare(
  stores: Stores,
  { step, projects, keys, report }: Copying,
): Promise<ComparedProject[]> {
  const { source, target } = stores;
  report.leaves('closed');
  await writeMarks(stores, step);
  const copier = createCopier(target, (reason) =>
    report.tell(`the keys are copied by their types, without DUMP: ${reason}`),
  );
  // `meta` is copied first, so that an operator that uses the target too early does not seed the project.
  for (const project of projects) {
    await closeProject(source, project);
    const meta = Buffer.from(keysOf(project).meta);
    await copier.copy(source.of(meta), [meta]);
  }
  report.tell(`closed ${projects.length} projects in the source`);
  const startedAt = performance.now();
  const { copied, isResumed } = await copyAll(source, target, copier, {
    from: await readCopyPosition(target),
    onProgress: (done) => report.progress(`copied ${done} of ${keys} keys`),
  });
  if (step !== 'begin') await removeExtraKeys(source, target);
  report.tell(
    `copied ${copied} keys${isResumed ? ', after those of an earlier call' : ''}, ${rate(copied, startedAt)}`,
  );
  return compare(stores, keys, report);
}

/** Stores that the move is in progress. */
async function writeMarks({ source, target }: Stores, step: Copying['step']): Promise<void> {
  if (step !== 'begin') {
    // In this order: after an interruption between the two, the next call starts again, too.
    if (step === 'restart') await restartCopy(target);
    await writeSourceMark(source, { state: 'moving', to: target.url });
    return;
  }
  // A new token for each target, so that an abandoned target is never taken for the current one.
  const token = randomUUID();
  await writeSourceMark(source, { token, state: 'moving', to: target.url });
  await writeTargetMark(target, { token, state: 'copying' });
}

async function compare(
  { source, target }: Stores,
  keys: number,
  report: MoveReport,
): Promise<ComparedProject[]> {
  const startedAt = performance.now();
  const { projects, differences, examples } = await compareAll(source, target, (done) =>
    report.progress(`compared ${done} of ${keys} keys`),
  );
  if (differences > 0) {
    await restartCopy(target);
    throw new MoveProblem(
      `${differences} keys differ, because a program wrote to the source or the target: ${examples.join('; ')}${differences > examples.length ? '; …' : ''}. Stop that program, and call the command again: it copies everything again`,
    );
  }
  const compared = projects.reduce((sum, each) => sum + each.keys, 0);
  report.tell(`compared ${compared} keys, ${rate(compared, startedAt)}: all are the same`);
  await awaitReplicas(target);
  return projects;
}

/**
 * Opens the projects of the target, which may be in use from the first one on: nothing is copied any more.
 */
async function openProjects(
  { source, target }: Stores,
  projects: readonly ProjectUid[],
  report: MoveReport,
): Promise<void> {
  report.leaves('opening');
  await writeTargetMark(target, { state: 'verified' });
  await awaitReplicas(target);
  // Before a project is open: from now on, the move cannot be cancelled, and the source not moved elsewhere.
  const token = (await readTargetMark(target))?.token ?? '';
  if (!(await changeSourceState(source, token, { state: 'moved', unless: 'cancelled' })))
    throw new MoveProblem(
      'another call has cancelled the move meanwhile, or moves the source elsewhere. The target stays closed: to move to it, stop all programs, and call the command again',
    );
  for (const project of projects) await reopenProject(target, project);
  await writeTargetMark(target, { state: 'done' });
  await awaitReplicas(target);
  report.tell(`opened ${projects.length} projects in the target; those of the source stay closed`);
}

/** Waits until replicas of the target have all data. @throws MoveProblem if too few replicas confirm */
async function awaitReplicas({ all, replicas }: MoveServers, withinMs = CONFIRM_MS): Promise<void> {
  if (replicas === 0) return;
  for (const server of all) {
    const call: Call = ['wait', replicas, withinMs];
    if (Number(await askForText(server, call)) < replicas)
      throw new MoveProblem(
        `fewer than ${replicas} replicas of the target confirm writes. Repair them, or give its URL another number of replicas, and call the command again`,
      );
  }
}

function rate(keys: number, startedAt: number): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  return `${seconds.toFixed(1)} s, ${Math.round(keys / Math.max(seconds, 0.001))} keys/s`;
}
