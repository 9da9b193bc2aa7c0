/** `npm run test:faults`: what becomes of events while everything around them is killed, stopped and cut off. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureCluster } from '../cluster/cluster.ts';
import { installWindlass } from '../support/install.ts';
import { createProgress, type Progress } from '../support/progress.ts';
import { runFaults } from './faultRun.ts';
import { keepLogs } from './logs.ts';
import { kindsOf, planFaults } from './plan.ts';
import { offendersOf, pageOf, reportOf, writeReport } from './report.ts';
import { openStage, REPLICATED, type Stage } from './stage.ts';

const help = `usage: npm run test:faults [-- OPTIONS]

Starts a cluster, installs Windlass with two replicas of everything, sends events and does one fault after the other. Exits
with 1 when a promise was broken, with 2 when the run does not count (the load before a fault was less than the rate).

options
  --events N     at least so many events (default: 1000)
  --rate R       events a second (default: 50)
  --kills K      how often each kind of fault comes (default: 1)
  --minutes M    at most so long (default: 60)
  --seed S       of the plan (default: from the clock)
  --only WORDS   kinds of faults, such as kill, redis or freeze-gateway, with commas between them
  --storm        the next fault comes before the one before is over
  --name NAME    which cluster (default: windlass-faults); it is removed at the end, unless --keep is given
  --report PATH  where PATH.json and PATH.md go (default: .windlass/faults/report)
  --help         this text

20,000 events and five kills of each kind: --events 20000 --kills 5 --only kill
100,000 and twenty: --events 100000 --kills 20 --minutes 360
`;

const root = join(import.meta.dirname, '../..');
const tell = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

const options = {
  events: { type: 'string', default: '1000' },
  rate: { type: 'string', default: '50' },
  kills: { type: 'string', default: '1' },
  minutes: { type: 'string', default: '60' },
  seed: { type: 'string' },
  only: { type: 'string', default: '' },
  storm: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  name: { type: 'string', default: 'windlass-faults' },
  report: { type: 'string', default: join(root, '.windlass/faults/report') },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Settings = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

async function faults(stage: Stage, settings: Settings): Promise<number> {
  const seed = number(settings.seed ?? String(Date.now() % 1_000_000));
  const kinds = kindsOf(settings.only.split(',').filter(Boolean));
  const plan = planFaults({ seed, kinds, perKind: number(settings.kills) });
  const rate = number(settings.rate);
  tell(`seed ${seed}: ${plan.length} faults of ${kinds.length} kinds, ${rate} events a second`);
  const run = await runFaults({
    stage,
    plan,
    events: number(settings.events),
    rate,
    minutes: number(settings.minutes),
    storm: settings.storm,
    tell,
  });
  const report = reportOf(run, { seed, rate, date: new Date() });
  const page = await writeReport(
    join(settings.report, '..'),
    settings.report.split('/').at(-1) ?? '',
    report,
  );
  console.log(`\n${pageOf(report)}\nThe report: ${page}`);
  for (const offender of offendersOf(run.violations, run.evidence)) {
    console.log(JSON.stringify(offender, undefined, 2));
  }
  if (run.violations.length > 0) return 1;
  return run.invalid === undefined ? 0 : 2;
}

/** The cluster is told apart from the demo's, and goes at the end whatever happens. */
async function onCluster(
  settings: Settings,
  progress: Progress,
  work: (stage: Stage) => Promise<number>,
): Promise<number> {
  const log = join(root, '.windlass/faults/install.log');
  await mkdir(join(log, '..'), { recursive: true });
  const cluster = await ensureCluster({ name: settings.name, progress });
  try {
    await installWindlass(cluster, { progress, log, values: REPLICATED });
    const stage = await progress.step('start sinks and workflows', () => openStage(cluster));
    try {
      return await work(stage);
    } finally {
      tell(`what the pods said: ${await keepLogs(cluster.name)}`);
      await stage.remove();
    }
  } finally {
    if (settings.keep) tell(`the cluster stays: export KUBECONFIG=${cluster.kubeconfigPath}`);
    else await progress.step('remove the cluster', () => cluster.down());
  }
}

function number(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`"${text}" is no number above zero`);
  return value;
}

const progress = createProgress(process.stderr);
try {
  const { values } = parseArgs({ args: process.argv.slice(2), options, allowPositionals: false });
  if (values.help) process.stdout.write(help);
  else process.exitCode = await onCluster(values, progress, (stage) => faults(stage, values));
} catch (error) {
  progress.say(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
