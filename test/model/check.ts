/** Plays many histories, several at a time, and shortens the first that shows something wrong. */
import { asyncProperty, check, limitShrink } from 'fast-check';
import { connectRunStore } from '../../store/connection.ts';
import { histories } from './histories.ts';
import { historyText, type Step } from './history.ts';
import { play, type Finding } from './play.ts';
import { learnScripts } from './scripts.ts';
import type { Server } from './watched.ts';

/** Connects to a server for histories. */
export async function openServer(url: string): Promise<Server & { close(): Promise<void> }> {
  const conn = connectRunStore({ url, name: 'model' });
  const nobody = connectRunStore({ url, name: 'nobody' });
  await Promise.all([conn.ready(), nobody.ready()]);
  await nobody.close();
  return {
    conn,
    nobody,
    scripts: await learnScripts(),
    timed: new WeakMap(),
    tally: new Map(),
    close: () => conn.close(),
  };
}

const LONGEST = 50;
/** Attempts to shorten a history that shows something wrong: some seconds. */
const SHORTENINGS = 300;

class Wrong extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.problems.join('\n'));
    this.finding = finding;
  }
}

/** `path`: the place of one history among those of the seed, as a failure names it. */
export type Batch = { seed: number; histories: number; path?: string | undefined };

/** Which batch shows something wrong: all others end then, since one finding is enough. */
type Search = { finder?: Batch };

/**
 * Plays the histories of one seed, one after the other. Answers with what was found, as text; undefined where
 * nothing was, or another batch of the search was the first to find something.
 */
export async function checkBatch(
  server: Server,
  batch: Batch,
  search: Search = {},
): Promise<string | undefined> {
  const { seed, histories: numRuns, path } = batch;
  const property = asyncProperty(limitShrink(histories(LONGEST), SHORTENINGS), async (steps) => {
    if (search.finder !== undefined && search.finder !== batch) return;
    try {
      const finding = await play(server, steps);
      if (finding) throw new Wrong(finding);
    } catch (error) {
      search.finder ??= batch;
      throw error;
    }
  });
  const found = await check(property, { seed, numRuns, ...(path !== undefined && { path }) });
  if (!found.failed || search.finder !== batch) return undefined;
  const [steps] = found.counterexample ?? [[]];
  return findingText(steps, found.errorInstance, { seed, path: found.counterexamplePath ?? '' });
}

function findingText(
  steps: readonly Step[],
  error: unknown,
  { seed, path }: { seed: number; path: string },
): string {
  const { step, problems } =
    error instanceof Wrong ? error.finding : { step: 0, problems: [String((error as Error)?.stack)] };
  const where = step > steps.length ? 'at the end, when everything should have ended' : `in step ${step}`;
  return [
    `A history of ${steps.length} steps shows, ${where}:`,
    ...problems.map((problem) => `  ${problem}`),
    'The history:',
    historyText(steps),
    `Play it again: npm run test:model -- --seed ${seed} --path ${path}`,
  ].join('\n');
}

export type Checked = { played: number; finding?: string };

/**
 * Plays `count` histories in batches of the seeds from `seed` on, `width` batches at a time; ends at the
 * first finding.
 */
export async function checkHistories(
  server: Server,
  { seed, count, size, width }: { seed: number; count: number; size: number; width: number },
  onPlayed: (played: number) => void = () => undefined,
): Promise<Checked> {
  const checked: Checked = { played: 0 };
  const search: Search = {};
  const batches = Array.from({ length: Math.ceil(count / size) }, (_, index) => ({
    seed: seed + index,
    histories: Math.min(size, count - index * size),
  })).values();
  const sender = async () => {
    for (const batch of batches) {
      if (search.finder !== undefined) return;
      const finding = await checkBatch(server, batch, search);
      if (finding !== undefined) checked.finding = finding;
      checked.played += batch.histories;
      onPlayed(checked.played);
    }
  };
  await Promise.all(Array.from({ length: width }, sender));
  return checked;
}
