/**
 * `n8n`: a webhook and a node that answers, here and in n8n, with the same body and answer, alternately on
 * the same machine. n8n is installed from npm into a temporary folder. Writes docs/benchmarks/n8n.md beside
 * the figures.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { revisionOf } from '../../api/revision.ts';
import { putRevision } from '../../runs/revisions.ts';
import { PROJECT } from '../support/gateway/gatewayHarness.ts';
import { EVENT } from './accept.ts';
import { installedVersion, installN8n, startN8n, type N8n, type Saving } from './n8nProcess.ts';
import { median, type Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import { startHarness, WORKFLOW, type Harness } from './harness.ts';
import { runWrk, type Measured } from './wrk.ts';

/** Which release is installed, and a folder that has one already. */
const RELEASE = process.env['N8N_RELEASE'] ?? 'latest';
const FOLDER = process.env['N8N_FOLDER'];
const ROUNDS = Math.max(1, Math.round(5 * Number(process.env['BENCH_SCALE'] ?? '1')));
const SECONDS = 5;
const WARM_SECONDS = 5;
const FIRST_CALLS = 20;
/** Nobody is to fail for being slow. */
const LOAD = { body: EVENT, timeoutSeconds: 30 };
const CONNECTIONS = [1, 32];

const REVISION = revisionOf({
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'new' } },
    {
      id: 'reply',
      response: { status: 201, body: { thanks: "{{ $('trigger').data_content.customer.name }}" } },
    },
  ],
});
const N8N_ANSWER = { thanks: '{{ $json.body.customer.name }}' };

type Contender = { name: string; url: string };
type Round = { contender: string; connections: number; measured: Measured };

export async function n8n(): Promise<Figure[]> {
  const own = FOLDER ?? (await mkdtemp(join(tmpdir(), 'windlass-n8n-')));
  const data = await mkdtemp(join(tmpdir(), 'windlass-n8n-data-'));
  try {
    if (FOLDER === undefined) console.error(`installing n8n@${RELEASE}, which takes minutes`);
    const version = FOLDER === undefined ? await installN8n(own, RELEASE) : await installedVersion(own);
    const rounds = await compare(own, data);
    const figures = figuresOf(rounds, version);
    await writeTable(rounds, version);
    return figures;
  } finally {
    if (FOLDER === undefined) await rm(own, { recursive: true, force: true });
    await rm(data, { recursive: true, force: true });
  }
}

async function compare(folder: string, data: string): Promise<Round[]> {
  const harness = await startHarness({ reply: true });
  const others: N8n[] = [];
  try {
    await emptyProject(harness);
    const runner = await startRunnerProcess(harness);
    others.push({ url: '', stop: runner.stop });
    const contenders: Contender[] = [{ name: 'Windlass', url: harness.hookURL }];
    for (const saving of ['all', 'none'] satisfies Saving[]) {
      const own = await mkdtemp(join(data, `${saving}-`));
      const started = await startN8n(folder, own, { saving, answer: N8N_ANSWER });
      others.push(started);
      contenders.push({ name: nameOf(saving), url: started.url });
    }
    // One by one at first: much is compiled and opened with the first calls.
    for (const { url } of contenders)
      for (let call = 0; call < FIRST_CALLS; call += 1) await expectAnswer(url);
    return await measure(harness, contenders);
  } finally {
    for (const { stop } of others.toReversed()) await stop();
    await harness.close();
  }
}

const nameOf = (saving: Saving) => (saving === 'all' ? 'n8n, executions saved' : 'n8n, executions not saved');

async function emptyProject(harness: Harness): Promise<void> {
  await harness.emptyStore();
  await putRevision(harness.runs, PROJECT, `${WORKFLOW}-1`, REVISION);
}

/** The figure would mean nothing if the answers were not the same. */
async function expectAnswer(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', body: EVENT, headers });
  const text = await answer.text();
  const same = answer.status === 201 && text.replaceAll(' ', '') === '{"thanks":"AnnExample"}';
  if (!same) throw new Error(`${url} does not answer as it should: ${answer.status} ${text}`);
}

async function measure(harness: Harness, contenders: Contender[]): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const { url } of contenders) await runWrk({ ...LOAD, url, connections: 8, seconds: WARM_SECONDS });
  for (let round = 1; round <= ROUNDS; round += 1) {
    await emptyProject(harness);
    for (const connections of CONNECTIONS)
      for (const { name, url } of contenders) {
        const measured = await runWrk({ ...LOAD, url, connections, seconds: SECONDS });
        rounds.push({ contender: name, connections, measured });
        console.error(
          `round ${round} of ${ROUNDS}: ${name}, ${connections} connections: ${Math.round(measured.perSecond)}/s`,
        );
      }
  }
  return rounds;
}

function middle(rounds: Round[], contender: string, connections: number, what: keyof Measured): number {
  const own = rounds.filter((round) => round.contender === contender && round.connections === connections);
  return median(own.map(({ measured }) => measured[what]));
}

const contendersOf = (rounds: Round[]) => [...new Set(rounds.map(({ contender }) => contender))];

function figuresOf(rounds: Round[], version: string): Figure[] {
  return CONNECTIONS.flatMap((connections) =>
    contendersOf(rounds).flatMap((contender): Figure[] => {
      const words = connections === 1 ? '1 connection' : `${connections} connections`;
      const name = `${contender.replace('n8n', `n8n ${version}`)}, ${words}`;
      const perSecond = middle(rounds, contender, connections, 'perSecond');
      const base = middle(rounds, 'Windlass', connections, 'perSecond');
      return [
        { name, value: perSecond, unit: 'answers/s', ratio: { to: 'Windlass', value: perSecond / base } },
        { name: `${name}, p50`, value: middle(rounds, contender, connections, 'p50Ms'), unit: 'ms' },
        { name: `${name}, p99`, value: middle(rounds, contender, connections, 'p99Ms'), unit: 'ms' },
      ];
    }),
  );
}

async function writeTable(rounds: Round[], version: string): Promise<void> {
  const rows = CONNECTIONS.flatMap((connections) =>
    contendersOf(rounds).map((contender) => {
      const [perSecond, p50, p99] = (['perSecond', 'p50Ms', 'p99Ms'] as const).map((what) =>
        middle(rounds, contender, connections, what),
      );
      return `| ${connections} | ${contender} | ${perSecond?.toFixed(0)} | ${p50?.toFixed(2)} | ${p99?.toFixed(2)} |`;
    }),
  );
  const text = `# Beside n8n ${version}

Written by \`npm run bench -- n8n\`, with n8n.json beside it, which names the machine. A webhook and a node that answers 201 with one value of
the body; the same body, answer and load (wrk) for all, alternately, medians of ${ROUNDS} rounds of ${SECONDS} s.

| connections | | answers/s | p50, ms | p99, ms |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

- **Windlass**: one gateway, one runner, Redis with \`appendfsync always\`. The event is on the disk before its run begins, and the answer before it is given.
- **n8n**: one process, as \`n8n start\` makes it, with SQLite and the settings that it comes with. It stores a row for each execution when that begins, and its data when it has ended
  (\`EXECUTIONS_DATA_SAVE_ON_SUCCESS=all\`, the default), or removes the row then (\`none\`). What n8n advises for more load, a queue (Redis), workers and Postgres, is not measured.
- Not compared: what either does with hundreds of integrations, in which n8n is far ahead.
`;
  await writeFile(fileURLToPath(new URL('../../docs/benchmarks/n8n.md', import.meta.url)), text);
}
