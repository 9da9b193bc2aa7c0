/**
 * Seeds a project in a store that lost its data, in this order: the revisions that routes serve, limits,
 * dedupe keys, unfinished runs. Only then the project is open. Two seedings may run at once. An interrupted
 * one continues; another operator starts again from the first page, because runs may have ended or been
 * deleted since.
 */
import type { RunStoreConnection, Unavailable } from '../../store/connection.ts';
import { putTrigger, type KnownBaseline, type PolledTrigger } from '../../store/polling/triggers.ts';
import { putCallee, type Callee } from '../../runs/callees.ts';
import { putRevision } from '../../runs/revisions.ts';
import { putVariables, type VariableValues } from '../../runs/variables.ts';
import { setWorkflowLimits } from '../../runs/limits.ts';
import { restoreRun, type RecordedRun } from '../../runs/restore.ts';
import {
  beginSeeding,
  openSeeded,
  SEED_PAGE,
  seedKeys,
  type RecordedKey,
  type Superseded,
} from '../../runs/seed.ts';
import type { WorkflowLimits } from '../../runs/types/limits.ts';
import type { Seeding } from '../../store/lua.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { NamedRevision } from '../shared/revisions.ts';

/**
 * What a route needs in the run store: its revision, the limits and the polled trigger of its workflow, if
 * they exist, and the workflow as child runs find it.
 */
export type ServedWorkflow = {
  revision?: NamedRevision;
  limits?: WorkflowLimits;
  callee?: Callee;
  polled?: { trigger: PolledTrigger; known?: KnownBaseline };
  /** Those of the project. */
  variables?: VariableValues;
};

/** The source of a seeding. */
export type SeedSource = {
  served(project: ProjectUid): Promise<ServedWorkflow[]>;
  /** The dedupe keys of recorded runs. */
  keys(project: ProjectUid): RecordedKey[];
  /**
   * The recorded unfinished runs that can continue, in small pages, each read from the API server. The source
   * ends those that cannot. The `position` moves when the next page is requested: with that of an interrupted
   * iteration, the unfinished page comes again.
   */
  unfinished(project: ProjectUid, position: ListPosition): AsyncIterable<Unfinished[]>;
};

type Unfinished = { run: RecordedRun; revision: NamedRevision };

/** The position in a list of recorded runs: the continue token of the API server. */
export type ListPosition = { continue?: string };

/** The progress of a seeding. */
export type SeedProgress = {
  seeding?: Seeding;
  /** The keys as they were when the seeding reached them, and how many of them were stored. */
  known?: readonly RecordedKey[];
  keys: number;
  runs: number;
  position: ListPosition;
  areRunsPut?: boolean;
};

/** The progress of a seeding that has not begun. */
export const newSeedProgress = (): SeedProgress => ({ keys: 0, runs: 0, position: {} });

export type Seeded = { outcome: 'done'; id: string; keys: number; runs: number; workflows: number };

/** Another seeding began meanwhile, and will open the project. */
const SUPERSEDED: Unavailable = { outcome: 'unavailable', why: 'no-store', retryAfterSeconds: 1 };

/**
 * Seeds and opens the project, continuing from `progress`, which it updates. Throws what the source throws.
 */
export async function seedProject(
  conn: RunStoreConnection,
  project: ProjectUid,
  source: SeedSource,
  progress: SeedProgress = newSeedProgress(),
): Promise<Seeded | Unavailable> {
  const begun = await beginSeeding(conn, project, progress.seeding);
  if (begun.outcome === 'unavailable') return begun;
  if (begun.outcome === 'open') return { outcome: 'done', id: begun.id, keys: 0, runs: 0, workflows: 0 };
  const { seeding } = begun;
  if (progress.seeding?.token !== seeding.token) begin(progress, seeding);
  // Repeated each time: a workflow that was suspended meanwhile must not open unsuspended.
  const workflows = await source.served(project);
  const served = await seedWorkflows(conn, project, workflows, seeding);
  if (served.outcome === 'unavailable') return served;
  for (const seed of [seedAllKeys, seedRuns]) {
    const seeded = await seed(conn, seeding, source, progress);
    if (seeded.outcome !== 'done') return seeded.outcome === 'superseded' ? SUPERSEDED : seeded;
  }
  const opened = await openSeeded(conn, seeding);
  if (opened.outcome !== 'done') return opened.outcome === 'superseded' ? SUPERSEDED : opened;
  const { keys, runs } = progress;
  return { outcome: 'done', id: opened.id, keys, runs, workflows: workflows.length };
}

/** Forgets the progress under another token. */
function begin(progress: SeedProgress, seeding: Seeding): void {
  delete progress.known;
  delete progress.areRunsPut;
  Object.assign(progress, newSeedProgress(), { seeding });
}

type Step = { outcome: 'done' } | Superseded | Unavailable;

/**
 * Stores revisions, limits and polled triggers with their cursors; without a `seeding`, in an open project.
 */
export async function seedWorkflows(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflows: readonly ServedWorkflow[],
  seeding?: Seeding,
): Promise<{ outcome: 'done' } | Unavailable> {
  for (const { revision } of workflows) {
    const put = revision && (await putRevision(conn, project, revision.name, revision.revision));
    if (put?.outcome === 'unavailable') return put;
  }
  const variables = await seedVariables(conn, project, workflows);
  if (variables.outcome === 'unavailable') return variables;
  for (const { limits } of workflows) {
    const set = limits ? await setWorkflowLimits(conn, project, limits, seeding) : undefined;
    if (set?.outcome === 'unavailable') return set;
  }
  const callees = await seedCallees(conn, project, workflows, seeding);
  if (callees.outcome === 'unavailable') return callees;
  for (const { polled } of workflows) {
    if (!polled) continue;
    const { trigger, known } = polled;
    const put = await putTrigger(conn, project, trigger, { seeding, known });
    if (put.outcome === 'unavailable') return put;
  }
  return { outcome: 'done' };
}

async function seedCallees(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflows: readonly ServedWorkflow[],
  seeding: Seeding | undefined,
): Promise<{ outcome: 'done' } | Unavailable> {
  for (const { callee } of workflows) {
    const put = callee && (await putCallee(conn, project, callee, seeding));
    if (put?.outcome === 'unavailable') return put;
  }
  return { outcome: 'done' };
}

async function seedVariables(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflows: readonly ServedWorkflow[],
): Promise<{ outcome: 'done' } | Unavailable> {
  const values = workflows.find(({ variables }) => variables)?.variables;
  return values ? putVariables(conn, project, values) : { outcome: 'done' };
}

async function seedAllKeys(
  conn: RunStoreConnection,
  seeding: Seeding,
  source: SeedSource,
  progress: SeedProgress,
): Promise<Step> {
  const known = (progress.known ??= source.keys(seeding.project));
  while (progress.keys < known.length) {
    const page = known.slice(progress.keys, progress.keys + SEED_PAGE);
    const seeded = await seedKeys(conn, seeding, page);
    if (seeded.outcome !== 'done') return seeded;
    progress.keys += page.length;
  }
  return { outcome: 'done' };
}

async function seedRuns(
  conn: RunStoreConnection,
  seeding: Seeding,
  source: SeedSource,
  progress: SeedProgress,
): Promise<Step> {
  if (progress.areRunsPut) return { outcome: 'done' };
  const put = new Set<string>();
  for await (const page of source.unfinished(seeding.project, progress.position)) {
    const revisions = new Map(page.map(({ revision }) => [revision.name, revision.revision]));
    for (const [name, revision] of [...revisions].filter(([known]) => !put.has(known))) {
      const stored = await putRevision(conn, seeding.project, name, revision);
      if (stored.outcome === 'unavailable') return stored;
      put.add(name);
    }
    const restored = await Promise.all(
      page.map(({ run }) => restoreRun(conn, seeding.project, run, seeding)),
    );
    for (const answer of restored)
      if (answer.outcome === 'unavailable' || answer.outcome === 'superseded') return answer;
    progress.runs += restored.length;
  }
  progress.areRunsPut = true;
  return { outcome: 'done' };
}
