/**
 * `npm run test:model`: plays random histories against the scripts of the run store and compares them with
 * the reference.
 */
import { parseArgs } from 'node:util';
import { ensurePackages } from '../cluster/packages.ts';
import { createProgress } from '../support/process/progress.ts';
import { startRedis } from '../support/runStore/redis.ts';
import { checkBatch, checkHistories, openServer } from './check.ts';

const HELP = `npm run test:model [-- --histories N] [--seed S] [--path P]

Plays N random histories (default 10000) of several clients against the scripts of the run store in a real Redis, with calls that are
lost, late, slow or not answered, and compares each call with a reference. Shortens the first history that shows something
wrong, and ends with 1. The same seed makes the same histories; with the path that a finding names only that one is played.`;

/** Histories of one seed: few enough that their progress is seen. */
const BATCH = 50;
const WIDTH = 6;

async function main(histories: number, seed: number, path: string | undefined): Promise<number> {
  const progress = createProgress(process.stderr);
  await ensurePackages(['redis-server'], progress);
  const redis = await startRedis({ config: ['appendonly no'] });
  const server = await openServer(redis.url);
  try {
    if (path !== undefined) return report(await checkBatch(server, { seed, path, histories: 1 }));
    const range = { seed, count: histories, size: BATCH, width: WIDTH };
    const started = performance.now();
    const { played, finding } = await progress.step(`${histories} histories from seed ${seed}`, (update) =>
      checkHistories(server, range, (count) => update(`${count} played`)),
    );
    const seconds = Math.round((performance.now() - started) / 1_000);
    const last = seed + Math.ceil(histories / BATCH) - 1;
    console.log(`histories: ${played} played in ${seconds} s, seeds ${seed} to ${last}`);
    for (const [said, times] of [...server.tally].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${String(times).padStart(8)} ${said}`);
    return report(finding);
  } finally {
    await server.close();
    await redis.stop();
  }
}

function report(finding: string | undefined): number {
  console.log(finding ?? 'nothing is wrong');
  return finding === undefined ? 0 : 1;
}

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    path: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(HELP);
else process.exitCode = await main(Number(values.histories), Number(values.seed), values.path);
