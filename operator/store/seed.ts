/**
 * Puts back what a store that lost its data must know of a project, in this order: the revisions that routes serve, limits, dedupe
 * keys, runs that had not ended. Only then the project is open. May be repeated after any step, and begun twice at once.
 */
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';
import { putTrigger, type KnownBaseline, type PolledTrigger } from '../../runs/polling/triggers.ts';
import { putRevision, setWorkflowLimits } from '../../runs/project.ts';
import { restoreRun, type RecordedRun } from '../../runs/restore.ts';
import { beginSeeding, openSeeded, seedKeys, type RecordedKey, type Seeding } from '../../runs/seed.ts';
import type { ProjectUid, Unavailable, WorkflowLimits } from '../../runs/types.ts';
import type { NamedRevision } from './projects.ts';

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
  /** The recorded runs that had not ended and can go on, read just now. Those that cannot go on it ends itself. */
  unfinished(project: ProjectUid): AsyncIterable<{ run: RecordedRun; revision: NamedRevision }>;
};

export type Seeded = { outcome: 'done'; id: string; keys: number; runs: number; workflows: number };

/** Another seeding began meanwhile, and will open the project. */
const SUPERSEDED: Unavailable = { outcome: 'unavailable', why: 'no-store', retryAfterSeconds: 1 };

/** Opens the project with all that is known of it. Throws what the source throws. */
export async function seedProject(
  conn: RunStoreConnection,
  project: ProjectUid,
  source: SeedSource,
): Promise<Seeded | Unavailable> {
  const begun = await beginSeeding(conn, project);
  if (begun.outcome === 'unavailable') return begun;
  if (begun.outcome === 'open') return { outcome: 'done', id: begun.id, keys: 0, runs: 0, workflows: 0 };
  const { seeding } = begun;
  const workflows = await source.served(project);
  const served = await seedWorkflows(conn, project, workflows, seeding);
  if (served.outcome === 'unavailable') return served;
  const keys = source.keys(project);
  const known = await seedKeys(conn, seeding, keys);
  if (known.outcome !== 'done') return known.outcome === 'superseded' ? SUPERSEDED : known;
  const runs = await seedRuns(conn, seeding, source);
  if (isUnavailable(runs)) return runs;
  const opened = await openSeeded(conn, seeding);
  if (opened.outcome !== 'done') return opened.outcome === 'superseded' ? SUPERSEDED : opened;
  return { outcome: 'done', id: opened.id, keys: keys.length, runs, workflows: workflows.length };
}

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

/** Answers with how many runs were put back. */
async function seedRuns(
  conn: RunStoreConnection,
  seeding: Seeding,
  source: SeedSource,
): Promise<number | Unavailable> {
  const { project } = seeding;
  const put = new Set<string>();
  let runs = 0;
  for await (const { run, revision } of source.unfinished(project)) {
    if (!put.has(revision.name)) {
      const stored = await putRevision(conn, project, revision.name, revision.revision);
      if (stored.outcome === 'unavailable') return stored;
      put.add(revision.name);
    }
    const restored = await restoreRun(conn, project, run, seeding);
    if (restored.outcome === 'unavailable') return restored;
    if (restored.outcome === 'superseded') return SUPERSEDED;
    runs += 1;
  }
  return runs;
}
