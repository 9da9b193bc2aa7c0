/**
 * `npm run bench -- NAME`: measures, prints a table, writes docs/benchmarks/NAME.json. Exits with 1 when a
 * goal is missed.
 */
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePackages } from '../cluster/packages.ts';
import { withLock } from '../support/process/lock.ts';
import { createProgress } from '../support/process/progress.ts';
import { accept } from './accept.ts';
import { agents } from './agents.ts';
import { apiload } from './apiload.ts';
import { bots } from './bots.ts';
import { bursts } from './bursts.ts';
import { cli } from './cli.ts';
import { code } from './code.ts';
import { consoleSpeed } from './console.ts';
import { deletion } from './deletion.ts';
import { hostile } from './hostile.ts';
import { idle } from './idle.ts';
import { loops } from './loops.ts';
import { memory } from './memory.ts';
import { n8n } from './n8n.ts';
import { polling } from './polling.ts';
import { projects } from './projects.ts';
import { quotas } from './quotas.ts';
import { refusals } from './refusals.ts';
import { reply } from './reply.ts';
import { report, type Figure } from './report.ts';
import { runs } from './runs.ts';
import { routes } from './routes.ts';
import { scale } from './scale.ts';
import { sheets } from './sheets.ts';
import { sleepers } from './sleepers.ts';
import { store } from './store.ts';
import { tokens } from './tokens.ts';
import { topology } from './topology.ts';
import { waits } from './waits.ts';

const BENCHMARKS: Record<string, { about: string; run: () => Promise<Figure[]> }> = {
  accept: {
    about:
      'webhook calls accepted durably, 32 connections, without and with HMAC, beside a bare echo (2 min)',
    run: accept,
  },
  agents: {
    about:
      'overhead of model calls and tool calls, 200 agents at the same time, text of chats as it streams (2 min)',
    run: agents,
  },
  bots: {
    about: 'how long messages to a bot wait for their answer, with repeats, at 200/s (1 min)',
    run: bots,
  },
  bursts: {
    about: '1,000 workflows applied to one project, and 10,000 to 100: how soon they are ready (5 min)',
    run: bursts,
  },
  cli: {
    about: 'how long commands of windlass take: help, lint, run --local, import (2 min)',
    run: cli,
  },
  code: {
    about: 'code steps: executions/s, what one adds to a run, beside an endless loop, idle memory (1 min)',
    run: code,
  },
  console: {
    about:
      'the console in Chromium: first load, dragging among 100 nodes, long lists, runs that come in, text that streams (2 min)',
    run: consoleSpeed,
  },
  deletion: {
    about:
      'a workflow, then a namespace with 100,000 runs that have not ended deleted, beside neighbours that submit (6 min)',
    run: deletion,
  },
  idle: {
    about: 'what an awake runner costs that has nothing to do: calls, processor time (2 min)',
    run: idle,
  },
  refusals: {
    about: 'webhook calls refused with 404, 401, 413, 429, beside a bare echo (2 min)',
    run: refusals,
  },
  routes: { about: 'accepting with 10,000 routes beside one; how soon they are served (2 min)', run: routes },
  reply: { about: 'webhook calls that a response node answers; runs/s of one runner (2 min)', run: reply },
  runs: { about: 'runs/s of one runner, latency at half of that, a backlog of 100,000 (5 min)', run: runs },
  loops: {
    about:
      'items/s of loops, calls in parallel, a loop of 10,000 items beside a neighbour, chains of child runs (1 min)',
    run: loops,
  },
  memory: {
    about: 'memory of the programs with 1,000 workflows, idle and after 100,000 runs (8 min)',
    run: memory,
  },
  apiload: {
    about: 'what the API server is asked for at 0, 100 and 1,000 webhook calls a second (6 min)',
    run: apiload,
  },
  n8n: { about: 'a webhook that is answered, beside n8n, which is installed from npm (10 min)', run: n8n },
  hostile: {
    about: 'what a good caller waits beside hostile ones, and the memory of the gateway (6 min)',
    run: hostile,
  },
  tokens: { about: 'kubectl get beside tokens that nobody made, at saturation (2 min)', run: tokens },
  polling: {
    about: 'a poll pod that finds nothing due, polls accounts, and at one of each provider (2 min)',
    run: polling,
  },
  sheets: { about: 'polls a spreadsheet of 100,000 rows and 20 columns (1 min)', run: sheets },
  quotas: {
    about: 'what projects can fill of a run store with little memory, and what a neighbour notices (1 min)',
    run: quotas,
  },
  waits: {
    about: '100,000 runs that wait: memory, idle processor time, how late they end, restoring (10 min)',
    run: waits,
  },
  topology: {
    about:
      'accept, reply and runs with a replica that confirms, beside a single server; Redis, Valkey (5 min)',
    run: topology,
  },
  projects: {
    about: 'one operator with 1,000 projects of 10 workflows: start until ready, at rest, edits (10 min)',
    run: projects,
  },
  scale: {
    about: 'one operator with 100 projects of 10 workflows, and with 200: calibrates docs/scale.md (5 min)',
    run: scale,
  },
  sleepers: {
    about: '1,000 projects whose runners sleep: pods, requests, commands, processor time (8 min)',
    run: sleepers,
  },
  store: { about: 'events and runs that the run store takes by itself (20 s)', run: store },
};

const [name = '--help'] = process.argv.slice(2);
const benchmark = BENCHMARKS[name];
if (benchmark === undefined) {
  console.log('Usage: npm run bench -- NAME\n');
  for (const [known, { about }] of Object.entries(BENCHMARKS)) console.log(`  ${known.padEnd(8)} ${about}`);
  console.log('\nInstalls wrk and redis-server where they are missing. Compare figures of one run alone.');
  process.exitCode = name === '--help' ? 0 : 2;
} else {
  await ensurePackages(['redis-server', 'wrk'], createProgress(process.stderr));
  const waiting = () => console.error('Another benchmark is running on this machine: waiting for its end.');
  // Two at a time would measure each other, and write files that nobody can tell from good ones.
  const met = await withLock(join(tmpdir(), 'windlass-bench.lock'), waiting, async () => {
    const [load = 0] = loadavg();
    if (load > cpus().length / 4) {
      console.error(
        `The machine is busy (load ${load.toFixed(1)}): what needs several processes will be too slow.`,
      );
    }
    return report(name, await benchmark.run());
  });
  process.exitCode = met ? 0 : 1;
}
