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
  checkSource,
  readCopyPosition,
  readSourceMark,
  readTargetMark,
  restartCopy,
  superseded,
  writeSourceMark,
  writeTargetMark,
} from './marks.ts';
import { countKeys, isEmpty, NO_PROJECT } from './pages.ts';
import { cancelProblem, planOf, type Plan, type SourceMark, type TargetMark } from './plan.ts';
import { MoveProblem, MoveSuperseded } from './problem.ts';
import { closeProject, reopenProject } from './projects.ts';
import { refusePrograms } from './programs.ts';
import { memoryProblem, parseFacts, serverProblems } from './serverFacts.ts';
import { askForText, openServers, type Call, type MoveServers, type StoreAccess } from './servers.ts';

export { MoveProblem, MoveSuperseded } from './problem.ts';
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
type Marks = { source: SourceMark | undefined; target: TargetMark | undefined };

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
  const { plan, marks } = await checkStores(stores, report);
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
    for (const store of [stores.source, stores.target]) await refusePrograms(store, report.tell);
  if (isDryRun)
    return {
      outcome: 'dryRun',
      projects: [...counts].map(([project, count]) => ({ project, keys: count, digest: '' })),
    };
  report.leaves(plan.step === 'open' ? 'opening' : 'closed');
  const own = await takeOver(stores, plan.step, marks);
  const compared =
    plan.step === 'open'
      ? []
      : await copyAndCompare(stores, { step: plan.step, own, projects, keys, report });
  await openProjects(stores, own, projects, report);
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
    const cancelled = { state: 'cancelled', call: randomUUID() } as const;
    if (!(await writeSourceMark(source, marks.source, cancelled, 'moved')))
      throw new MoveProblem(
        'another call of the command has continued or finished the move meanwhile: end it, and call this one again',
      );
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
async function checkStores(
  { source, target }: Stores,
  report: MoveReport,
): Promise<{ plan: Plan; marks: Marks }> {
  const [sourceFacts, targetFacts] = [await factsOf(source), await factsOf(target)];
  for (const { facts, url, side } of [sourceFacts, targetFacts]) {
    report.tell(`${side}: ${[...new Set(facts.map(({ version }) => version))].join(', ')}`);
    if (!url.includes('+cluster:') && facts.some(({ isMember }) => isMember))
      throw new MoveProblem(
        `the ${side} belongs to a Redis Cluster: give its URL as redis+cluster://host:port?replicas=N`,
      );
  }
  const marks = { source: await readSourceMark(source), target: await readTargetMark(target) };
  const plan = planOf({ ...marks, isTargetEmpty: await isEmpty(target) });
  if (marks.source?.state === 'moving') report.leaves(plan.step === 'open' ? 'opening' : 'closed');
  const problems = serverProblems(sourceFacts.facts, targetFacts.facts);
  // After an interruption, the target already contains a part of the keys.
  const noRoom = plan.step === 'begin' ? memoryProblem(sourceFacts.facts, targetFacts.facts) : undefined;
  if (noRoom !== undefined) problems.push(noRoom);
  if (problems.length > 0) throw new MoveProblem(problems.join('; '));
  for (const problem of targetFacts.durability)
    report.tell(`warning: the target may lose data: ${problem} (docs/run-store.md)`);
  if (plan.step !== 'refuse' && plan.step !== 'nothing') await awaitReplicas(target, CHECK_MS);
  return { plan, marks };
}

async function factsOf(store: MoveServers) {
  const infos: string[] = [];
  for (const server of store.all) infos.push(String(await askForText(server, ['info'])));
  const durability = [...new Set(infos.flatMap(durabilityProblems))];
  return { side: store.side, url: store.url, facts: infos.map(parseFacts), durability };
}

type Step = Exclude<Plan['step'], 'refuse' | 'nothing'>;

/**
 * Stores that this call works on the move, so that earlier calls end before they write anything more. Returns
 * its mark in the source. @throws MoveProblem if another call has begun since the marks were read
 */
async function takeOver({ source, target }: Stores, step: Step, marks: Marks): Promise<SourceMark> {
  const call = randomUUID();
  // A new token for each target, so that an abandoned target is never taken for the current one.
  const token = step === 'begin' ? randomUUID() : (marks.source?.token ?? '');
  const state = step === 'open' ? (marks.source?.state ?? 'moving') : 'moving';
  const own: SourceMark = { token, call, state, to: target.url };
  const writeSource = async (): Promise<void> => {
    if (!(await writeSourceMark(source, marks.source, own))) throw superseded();
  };
  if (step === 'begin') await writeSource();
  await writeTargetMark(target, marks.target, {
    token,
    call,
    ...(step !== 'open' && { state: 'copying' }),
    ...(step === 'restart' && { position: '' }),
  });
  // Last: if this call is interrupted before, the next one copies everything again, too.
  if (step !== 'begin') await writeSource();
  return own;
}

type Copying = {
  step: Step;
  own: SourceMark;
  projects: readonly ProjectUid[];
  keys: number;
  report: MoveReport;
};

async function copyAndCompare(
  stores: Stores,
  { step, own, projects, keys, report }: Copying,
): Promise<ComparedProject[]> {
  const { source, target } = stores;
  const copier = createCopier(target, (reason) =>
    report.tell(`the keys are copied by their types, without DUMP: ${reason}`),
  );
  // `meta` is copied first, so that an operator that uses the target too early does not seed the project.
  for (const project of projects) {
    await checkSource(source, own);
    await closeProject(source, project);
    const meta = Buffer.from(keysOf(project).meta);
    await copier.copy(source.of(meta), [meta]);
  }
  report.tell(`closed ${projects.length} projects in the source`);
  const startedAt = performance.now();
  const { copied, isResumed } = await copyAll(source, target, copier, {
    own,
    from: await readCopyPosition(target),
    onProgress: (done) => report.progress(`copied ${done} of ${keys} keys`),
  });
  if (step !== 'begin') await removeExtraKeys(source, target, own);
  report.tell(
    `copied ${copied} keys${isResumed ? ', after those of an earlier call' : ''}, ${rate(copied, startedAt)}`,
  );
  return compare(stores, own, keys, report);
}

async function compare(
  { source, target }: Stores,
  own: SourceMark,
  keys: number,
  report: MoveReport,
): Promise<ComparedProject[]> {
  const startedAt = performance.now();
  const { projects, differences, examples } = await compareAll(source, target, (done) =>
    report.progress(`compared ${done} of ${keys} keys`),
  );
  if (differences > 0) {
    await restartCopy(target, own);
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
  own: SourceMark,
  projects: readonly ProjectUid[],
  report: MoveReport,
): Promise<void> {
  report.leaves('opening');
  await writeTargetMark(target, own, { state: 'verified' });
  await awaitReplicas(target);
  // Before a project is open: from now on, the move cannot be cancelled, and the source not moved elsewhere.
  if (!(await writeSourceMark(source, own, { state: 'moved' })))
    throw new MoveSuperseded(
      'another call has cancelled the move meanwhile, or moves the source elsewhere. The target stays closed: to move to it, stop all programs, and call the command again',
    );
  for (const project of projects) await reopenProject(target, project);
  await writeTargetMark(target, own, { state: 'done' });
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
