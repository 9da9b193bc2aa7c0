/**
 * `npm run test:faults`: what becomes of events while everything around them is killed, stopped and cut off.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureCluster, type Cluster } from '../cluster/cluster.ts';
import { ensurePackages } from '../cluster/packages.ts';
import { commitHash } from '../support/process/commit.ts';
import { installWindlass } from '../support/installation/install.ts';
import { createProgress, type Progress } from '../support/process/progress.ts';
import { runFaults } from './faultRun.ts';
import { keepLogs } from './logs.ts';
import { kindsOf, planFaults } from './plan.ts';
import { runAgents } from './agents/run.ts';
import { startAgentHarness } from './agents/harness.ts';
import { runFlows, type FlowOptions, type FlowResult } from './flows/run.ts';
import { startFlowSink } from './flows/sink.ts';
import { FLOW_KINDS, flowsManifest } from './flows/workflows.ts';
import type { FaultRun } from './load.ts';
import { runOutages } from './outage.ts';
import { pageOf, writePage, writeReport } from './page.ts';
import { offendersOf, reportOf } from './report.ts';
import { runRolling } from './rolling.ts';
import { runSchedules } from './schedules.ts';
import { runSleep, SLEEPING, startSleepers, type SleepHarness } from './sleep/run.ts';
import { startHarness, REPLICATED, type Harness } from './harness.ts';
import { runSleepScenes, SLEEP_AFTER } from './sleepScenes/run.ts';
import { runStorm } from './storm/run.ts';
import { startStormHarness, STORM_PROJECT } from './storm/harness.ts';
import { failoverKindsOf, runTopology } from './topology/run.ts';
import { clusterStore } from './topology/clusterStore.ts';
import { membersStore } from './topology/membersStore.ts';
import { installOnNodes, NODES, runNodes, scenesOf } from './nodes/run.ts';
import type { SinkHosts } from './workflows.ts';
import { isInTime, takeOverOften, takeoverRows } from './takeover.ts';

const help = `usage: npm run test:faults [-- MODE] [OPTIONS]

Starts a cluster, installs Windlass with two replicas of everything, sends events and does one fault after the other. Exits
with 1 when a promise was broken, with 2 when the run does not count (the load before a fault was less than the rate).

modes
  (none)         faults, by a plan
  rolling        restarts gateway, operator and runners again and again during --requests at 100 a second: none may be dropped
  outage         --seconds without Redis, then as long without API server
  takeover       the operator's leader crashes, then is asked to end: how long nobody leads
  schedules      --schedules at every minute for --minutes, while operator, gateway and runners are killed one after the other

options
  --events N     at least so many events (default: 1000; with --storm each chosen scene comes once, however few)
  --rate R       events a second (default: 50; of rolling 100)
  --kills K      how often each kind of fault comes (default: 1)
  --minutes M    at most so long (default: 60); of schedules exactly so long (default: 5)
  --seed S       of the plan (default: from the clock)
  --only WORDS   kinds of faults, such as kill, redis or freeze-gateway, with commas between them
  --requests N   of rolling (default: 60000)
  --seconds N    of outage (default: 60)
  --schedules N  how many (default: 10)
  --times N      of takeover, each of the two (default: 5)
  --flows        loops, child runs, callbacks, error workflows and resumed runs while programs die one after the other and the
                 run store is lost, on programs of this machine: no cluster; about three minutes
  --agents       agents with three tools, a memory, a budget and a chat, killed at each of their points, on programs of this
                 machine: no cluster; about four minutes. --only WORDS: scenes whose ID begins so, such as point-14
  --sleep-scenes  webhooks, callbacks, child runs, waits and scheduled times of a project whose runners sleep and wake, while operators,
                 gateways, runners, Redis and the API server die in chosen orders and the run store is lost, on programs of this
                 machine: no cluster; about seven minutes
  --rounds N     of --flows: how often its scenes come (default: 1)
  --scenes N     of --flows: scenes of overlapping faults by the seed in each round (default: 0)
  --mails N      of --flows: mails of each loop (default: 200)
  --topology     --times failovers of the chart's replicated run store at --rate events a second (default: 20 at 200): kill, freeze,
                 partition (a gateway stays with the former primary), empty, or those of --only; on programs of this machine, as
                 root: no cluster; about ten minutes. Nothing else may use the processors
  --redis-cluster  with --topology: a Redis Cluster of three primaries with two replicas each in its place
  --nodes        nodes of a cluster of three that are lost, cut off, deleted and drained: loss, drain, partition, twin, store,
                 or those of --only; as root; about fifteen minutes
  --sleep        --projects whose runners sleep after 30 s and are woken by webhooks, waits, callbacks, schedules and mails for
                 --minutes (default: 10), while the operator that leads, a gateway and Redis are killed just then
  --projects N   of --sleep (default: 6)
  --confirm N    of --topology: how many replicas confirm (default: 1)
  --storm        two and three faults at once, in chosen orders and then by the seed, on programs of this machine: no cluster
  --name NAME    which cluster (default: windlass-faults); it is removed at the end, unless --keep is given
  --report PATH  where PATH.json and PATH.md go (default: .windlass/faults/report)
  --help         this text

20,000 events and five kills of each kind: --events 20000 --kills 5 --only kill
100,000 and twenty: --events 100000 --kills 20 --minutes 360
Overlapping faults over 20,000 events: --storm --events 20000
`;

const root = join(import.meta.dirname, '../..');
/** A scene mostly waits for a takeover. */
const SCENES_AT_ONCE = 10;
const tell = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

const options = {
  events: { type: 'string', default: '1000' },
  rate: { type: 'string' },
  requests: { type: 'string', default: '60000' },
  seconds: { type: 'string', default: '60' },
  times: { type: 'string' },
  kills: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  schedules: { type: 'string', default: '10' },
  seed: { type: 'string' },
  only: { type: 'string', default: '' },
  storm: { type: 'boolean', default: false },
  topology: { type: 'boolean', default: false },
  'redis-cluster': { type: 'boolean', default: false },
  nodes: { type: 'boolean', default: false },
  sleep: { type: 'boolean', default: false },
  projects: { type: 'string', default: '6' },
  confirm: { type: 'string', default: '1' },
  flows: { type: 'boolean', default: false },
  agents: { type: 'boolean', default: false },
  'sleep-scenes': { type: 'boolean', default: false },
  rounds: { type: 'string', default: '1' },
  scenes: { type: 'string', default: '0' },
  mails: { type: 'string', default: '200' },
  keep: { type: 'boolean', default: false },
  name: { type: 'string', default: 'windlass-faults' },
  report: { type: 'string', default: join(root, '.windlass/faults/report') },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Settings = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

type Mode = (harness: Harness, settings: Settings) => Promise<number>;

const MODES: Record<string, Mode> = {
  faults: async (harness, settings) => {
    const seed = number(settings.seed ?? String(Date.now() % 1_000_000));
    const kinds = kindsOf(settings.only.split(',').filter(Boolean));
    const plan = planFaults({ seed, kinds, perKind: number(settings.kills) });
    const rate = number(settings.rate ?? '50');
    const [events, minutes] = [number(settings.events), number(settings.minutes ?? '60')];
    tell(`seed ${seed}: ${plan.length} faults of ${kinds.length} kinds, ${rate} events a second`);
    const run = await runFaults({ harness, plan, events, rate, minutes, tell });
    return show(run, { seed, rate }, settings.report);
  },
  rolling: async (harness, settings) => {
    const rate = number(settings.rate ?? '100');
    const run = await runRolling({ harness, requests: number(settings.requests), rate, tell });
    return show(run, { rate }, settings.report);
  },
  outage: async (harness, settings) => {
    const rate = number(settings.rate ?? '50');
    const run = await runOutages({ harness, seconds: number(settings.seconds), rate, tell });
    return show(run, { rate }, settings.report);
  },
  takeover: async (harness, settings) => {
    const series = await takeOverOften(harness, number(settings.times ?? '5'), tell);
    const rows = takeoverRows(series);
    const page = await writePage(settings.report, 'Takeovers of the operator', await made(), rows);
    console.log(`\n${rows.join('\n')}\nThe report: ${page}`);
    return series.every(isInTime) ? 0 : 1;
  },
  schedules: async (harness, settings) => {
    const minutes = number(settings.minutes ?? '5');
    const { broken, rows } = await runSchedules(harness, number(settings.schedules), { minutes, tell });
    const lines = [...rows, '', ...broken.map((line) => `- Broken: ${line}.`)];
    const page = await writePage(settings.report, 'Schedules under faults', await made(), lines);
    console.log(`\n${lines.join('\n')}\nThe report: ${page}`);
    return broken.length === 0 ? 0 : 1;
  },
};

/**
 * What a report says of where it comes from: the command without the names of this machine's files and
 * clusters.
 */
async function made(): Promise<{ date: Date; command: string; commit: string }> {
  const { tokens } = parseArgs({
    args: process.argv.slice(2),
    options,
    allowPositionals: true,
    tokens: true,
  });
  const local = ['name', 'report', 'keep'];
  const told = tokens.flatMap((token) => {
    if (token.kind === 'positional') return token.value;
    if (token.kind !== 'option' || local.includes(token.name)) return [];
    return token.value === undefined ? token.rawName : `${token.rawName} ${token.value}`;
  });
  const command = ['npm run test:faults', ...(told.length > 0 ? ['--', ...told] : [])].join(' ');
  return { date: new Date(), command, commit: await commitHash() };
}

/** Prints and writes the report; the exit code says what came of it. */
async function show(
  run: FaultRun,
  load: { seed?: number; rate: number; leftOut?: boolean },
  path: string,
): Promise<number> {
  const report = reportOf(run, { ...load, ...(await made()) });
  const page = await writeReport(path, report);
  console.log(`\n${pageOf(report)}\nThe report: ${page}`);
  for (const offender of offendersOf(run.violations, run.evidence)) {
    console.log(JSON.stringify(offender, undefined, 2));
  }
  if (run.violations.length > 0) return 1;
  return run.invalid === undefined ? 0 : 2;
}

/** Without a cluster: what the storm takes away are programs of this machine. */
async function onPrograms(settings: Settings, progress: Progress): Promise<number> {
  const seed = number(settings.seed ?? String(Date.now() % 1_000_000));
  const rate = number(settings.rate ?? '50');
  const [events, minutes] = [number(settings.events), number(settings.minutes ?? '60')];
  const logs = join(root, '.windlass/faults/storm-logs');
  await ensurePackages(['redis-server'], progress);
  const harness = await progress.step('start programs and workflows', () => startStormHarness(logs));
  try {
    tell(`seed ${seed}: ${rate} events a second`);
    const run = await runStorm({ harness, events, rate, minutes, seed, tell });
    return await show(run, { seed, rate, leftOut: harness.shims === undefined }, settings.report);
  } finally {
    await harness.remove();
    tell(`what the programs said: ${logs}`);
  }
}

/** As the storm, with a run store that has replicas, and failovers one after the other. */
async function onReplicas(settings: Settings, progress: Progress): Promise<number> {
  const logs = join(root, '.windlass/faults/topology-logs');
  const [times, rate] = [number(settings.times ?? '20'), number(settings.rate ?? '200')];
  const kinds = failoverKindsOf(settings.only.split(',').filter(Boolean));
  await ensurePackages(['redis-server'], progress);
  const confirming = number(settings.confirm);
  const { start, storeOf } = settings['redis-cluster'] ? clusterStore(confirming) : membersStore(confirming);
  const harness = await progress.step('start programs and workflows', () =>
    startStormHarness(logs, STORM_PROJECT, start),
  );
  try {
    const store = await storeOf(harness.stored.uid);
    const run = await runTopology({ harness, store, times, kinds, rate, tell });
    return await show(run, { rate }, settings.report);
  } finally {
    await harness.remove();
    tell(`what the programs said: ${logs}`);
  }
}

/** A cluster of three nodes, which goes at the end whatever happens. */
async function onNodes(settings: Settings, progress: Progress): Promise<number> {
  const log = join(root, '.windlass/faults/install.log');
  const rate = number(settings.rate ?? '20');
  const scenes = scenesOf(settings.only.split(',').filter(Boolean));
  await mkdir(join(log, '..'), { recursive: true });
  const cluster = await ensureCluster({ name: settings.name, nodes: NODES, progress });
  try {
    const harness = await installOnNodes(cluster, { progress, log });
    try {
      const run = await runNodes({ harness, cluster, scenes, rate, tell });
      return await show(run, { rate }, settings.report);
    } finally {
      tell(`what the pods said: ${await keepLogs(cluster.name)}`);
      await harness.remove();
    }
  } finally {
    if (settings.keep) tell(`the cluster stays: export KUBECONFIG=${cluster.kubeconfigPath}`);
    else await progress.step('remove the cluster', () => cluster.down());
  }
}

type Flows = {
  title: string;
  folder: string;
  run: (options: FlowOptions) => Promise<FlowResult>;
  content: { sleepAfter?: string };
};
const FLOWS: Flows = { title: 'Flows under faults', folder: 'flow-logs', run: runFlows, content: {} };
const SLEEP_SCENES: Flows = {
  title: 'Runners that sleep and wake, under faults',
  folder: 'sleep-scenes-logs',
  run: runSleepScenes,
  content: { sleepAfter: SLEEP_AFTER },
};

/** As the storm, with workflows of its own. */
async function onFlows(settings: Settings, progress: Progress, flows: Flows): Promise<number> {
  const logs = join(root, '.windlass/faults', flows.folder);
  const sink = await startFlowSink();
  try {
    const manifest = (hosts: SinkHosts) => flowsManifest(hosts, sink.url);
    const content = { manifest, workflows: FLOW_KINDS, ...flows.content };
    const harness = await progress.step('start programs and workflows', () =>
      startStormHarness(logs, content),
    );
    try {
      const seed = number(settings.seed ?? String(Date.now() % 1_000_000));
      const [rounds, mails] = [number(settings.rounds), number(settings.mails)];
      const scenes = Number(settings.scenes);
      tell(`seed ${seed}`);
      const { violations, rows } = await flows.run({ harness, sink, rounds, scenes, seed, mails, tell });
      const lines = [...rows, '', ...violations.map(({ kind, message }) => `- ${kind}: ${message}`)];
      const page = await writePage(settings.report, flows.title, await made(), lines);
      console.log(`\n${lines.join('\n')}\nThe report: ${page}`);
      return violations.length === 0 ? 0 : 1;
    } finally {
      await harness.remove();
      tell(`what the programs said: ${logs}`);
    }
  } finally {
    await sink.close();
  }
}

/** As the flows, with runners that each scene starts and kills itself. */
async function onAgents(settings: Settings, progress: Progress): Promise<number> {
  const logs = join(root, '.windlass/faults/agent-logs');
  await ensurePackages(['redis-server'], progress);
  const harness = await progress.step('start programs', () => startAgentHarness(logs));
  try {
    const only = settings.only.split(',').filter(Boolean);
    const { violations, rows } = await runAgents({ harness, only, atOnce: SCENES_AT_ONCE, tell });
    const lines = [...rows, '', ...violations.map(({ kind, message }) => `- ${kind}: ${message}`)];
    const page = await writePage(settings.report, 'Agents under faults', await made(), lines);
    console.log(`\n${lines.join('\n')}\nThe report: ${page}`);
    return violations.length === 0 ? 0 : 1;
  } finally {
    await harness.remove();
    tell(`what the programs said: ${logs}`);
  }
}

/** Projects that sleep and wake, on a cluster. */
async function onSleepers(harness: SleepHarness, settings: Settings): Promise<number> {
  const seed = number(settings.seed ?? String(Date.now() % 1_000_000));
  tell(`seed ${seed}: ${harness.projects.length} projects`);
  const run = await runSleep({ harness, minutes: number(settings.minutes ?? '10'), seed, tell });
  const rate = Math.round((run.evidence.events.length / run.seconds) * 10) / 10;
  return show(run, { seed, rate }, settings.report);
}

type OnCluster<H> = {
  values: Record<string, unknown>;
  start: (cluster: Cluster) => Promise<H>;
  work: (harness: H) => Promise<number>;
};

/** The cluster is distinguished from the demo's, and goes at the end whatever happens. */
async function onCluster<H extends { remove(): Promise<void> }>(
  settings: Settings,
  progress: Progress,
  { values, start, work }: OnCluster<H>,
): Promise<number> {
  const log = join(root, '.windlass/faults/install.log');
  await mkdir(join(log, '..'), { recursive: true });
  const cluster = await ensureCluster({ name: settings.name, progress });
  try {
    await installWindlass(cluster, { progress, log, values });
    const harness = await progress.step('start sinks and workflows', () => start(cluster));
    try {
      return await work(harness);
    } finally {
      tell(`what the pods said: ${await keepLogs(cluster.name)}`);
      await harness.remove();
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
  const { values, positionals } = parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
  const [name = 'faults'] = positionals;
  const mode = MODES[name];
  if (values.help) process.stdout.write(help);
  else if (!mode) throw new Error(`there is no mode "${name}": use ${Object.keys(MODES).join(', ')}`);
  else if (values.flows) process.exitCode = await onFlows(values, progress, FLOWS);
  else if (values['sleep-scenes']) process.exitCode = await onFlows(values, progress, SLEEP_SCENES);
  else if (values.agents) process.exitCode = await onAgents(values, progress);
  else if (values.topology) process.exitCode = await onReplicas(values, progress);
  else if (values.nodes) process.exitCode = await onNodes(values, progress);
  else if (values.storm) process.exitCode = await onPrograms(values, progress);
  else if (values.sleep) {
    const count = number(values.projects);
    const start = (cluster: Cluster) => startSleepers(cluster, count);
    const work = (harness: SleepHarness) => onSleepers(harness, values);
    process.exitCode = await onCluster(values, progress, { values: SLEEPING, start, work });
  } else {
    const start = (cluster: Cluster) => startHarness(cluster);
    const work = (harness: Harness) => mode(harness, values);
    process.exitCode = await onCluster(values, progress, { values: REPLICATED, start, work });
  }
} catch (error) {
  progress.say(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
