/**
 * Puts back what a store that lost its data must know of a project, in this order: the revisions that routes serve, limits, dedupe
 * keys, runs that had not ended. Only then the project is open. May be begun twice at once. One that broke off goes on where it was; another
 * operator starts again from the first page, because runs may have ended or been deleted since.
 */
import type { RunStoreConnection, Unavailable } from '../../store/connection.ts';
import { putTrigger, type KnownBaseline, type PolledTrigger } from '../../store/polling/triggers.ts';
import { putRevision } from '../../runs/revisions.ts';
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
import type { WorkflowLimits } from '../../runs/types.ts';
import type { Seeding } from '../../store/lua.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { NamedRevision } from '../shared/revisions.ts';

/** What a route serves, as far as it exists: its revision, and of its workflow the limits and what is polled. */
export type ServedWorkflow = {
  revision?: NamedRevision;
  limits?: WorkflowLimits;
  polled?: { trigger: PolledTrigger; known?: KnownBaseline };
};

/** Where what is put back comes from. */
export type SeedSource = {
  served(project: ProjectUid): Promise<ServedWorkflow[]>;
  /** The dedupe keys of recorded runs. */
  keys(project: ProjectUid): RecordedKey[];
  /**
   * The recorded runs that had not ended and can go on, in small pages, each read just now. Those that cannot go on it ends itself. The
   * `position` moves when the next page is asked for: with that of an iteration that broke off, the page that was not done comes again.
   */
  unfinished(project: ProjectUid, position: ListPosition): AsyncIterable<Unfinished[]>;
};

type Unfinished = { run: RecordedRun; revision: NamedRevision };

/** How far a list of recorded runs is: what the API server gave to go on with. */
export type ListPosition = { continue?: string };

/** How far a seeding is. */
export type SeedProgress = {
  seeding?: Seeding;
  /** As they were when the seeding came to them, and how many of them were put back. */
  known?: readonly RecordedKey[];
  keys: number;
  runs: number;
  position: ListPosition;
  areRunsPut?: boolean;
};

/** Of a seeding that has not begun. */
export const newSeedProgress = (): SeedProgress => ({ keys: 0, runs: 0, position: {} });

export type Seeded = { outcome: 'done'; id: string; keys: number; runs: number; workflows: number };

/** Another seeding began meanwhile, and will open the project. */
const SUPERSEDED: Unavailable = { outcome: 'unavailable', why: 'no-store', retryAfterSeconds: 1 };

/** Opens the project with all that is known of it, from where the `progress` is, which it moves on. Throws what the source throws. */
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
  // Each time, however far the rest is: a workflow that was suspended meanwhile must not open without that.
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

/** Forgets all that was done under another token. */
function begin(progress: SeedProgress, seeding: Seeding): void {
  delete progress.known;
  delete progress.areRunsPut;
  Object.assign(progress, newSeedProgress(), { seeding });
}

type Step = { outcome: 'done' } | Superseded | Unavailable;

/** Puts revisions, limits and polled triggers with their cursors; without a `seeding` into a project that is open. */
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
  for (const { limits } of workflows) {
    const set = limits ? await setWorkflowLimits(conn, project, limits, seeding) : undefined;
    if (set?.outcome === 'unavailable') return set;
  }
  for (const { polled } of workflows) {
    if (!polled) continue;
    const { trigger, known } = polled;
    const put = await putTrigger(conn, project, trigger, { seeding, known });
    if (put.outcome === 'unavailable') return put;
  }
  return { outcome: 'done' };
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
