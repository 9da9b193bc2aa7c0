/**
 * `reply`: how long a caller waits for a workflow that answers: webhook, one response node, recorded durably
 * on the way; beside a bare echo. And how many such runs one runner process executes a second when it has
 * nothing else to do.
 */
import { revisionOf } from '../../api/revision.ts';
import { isUnavailable } from '../../store/connection.ts';
import { putRevision } from '../../runs/revisions.ts';
import { readCounts } from '../../runs/read.ts';
import { submit } from '../../runs/submit.ts';
import { PROJECT, workflowUid } from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { EVENT } from './accept.ts';
import { median, type Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import { startHarness, WORKFLOW, type Harness } from './harness.ts';
import { runWrk, type Measured } from './wrk.ts';

const ROUNDS = 7;
const SECONDS = 4;
/** For the runner at saturation. */
const BACKLOG = 20_000;
const SUBMITTED_AT_ONCE = 500;

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

export async function reply(): Promise<Figure[]> {
  const harness = await startHarness({ reply: true });
  try {
    await emptyProject(harness);
    const rounds = await replyRounds(harness);
    const perSecond = await drainBacklog(harness);
    return figures(rounds, perSecond);
  } finally {
    await harness.close();
  }
}

async function emptyProject(harness: Harness): Promise<void> {
  await harness.emptyStore();
  await putRevision(harness.runs, PROJECT, `${WORKFLOW}-1`, REVISION);
}

type Rounds = { echoes: Measured[]; replies: Measured[]; crowd: Measured };

async function replyRounds(harness: Harness): Promise<Rounds> {
  const runner = await startRunnerProcess(harness);
  try {
    const load = { connections: 1, seconds: SECONDS, body: EVENT };
    await expectReply(harness.hookURL);
    await runWrk({ ...load, url: harness.echoURL });
    await runWrk({ ...load, url: harness.hookURL });
    const echoes: Measured[] = [];
    const replies: Measured[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const echo = await runWrk({ ...load, url: harness.echoURL });
      const answered = await runWrk({ ...load, url: harness.hookURL });
      echoes.push(echo);
      replies.push(answered);
      console.error(`round ${round} of ${ROUNDS}: echo p50 ${echo.p50Ms} ms, reply p50 ${answered.p50Ms} ms`);
    }
    const crowd = await runWrk({ ...load, url: harness.hookURL, connections: 32, seconds: 10 });
    return { echoes, replies, crowd };
  } finally {
    await runner.stop();
  }
}

/** The figure would mean nothing if the answer were another than the response node's. */
async function expectReply(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', body: EVENT, headers });
  const text = await answer.text();
  if (answer.status !== 201 || !text.includes('Ann Example')) {
    throw new Error(`The workflow does not answer as it should: ${answer.status} ${text}`);
  }
}

/** Runs a second, from the first tenth of the backlog to the last, with nobody sending. */
async function drainBacklog(harness: Harness): Promise<number> {
  await emptyProject(harness);
  for (let done = 0; done < BACKLOG; done += SUBMITTED_AT_ONCE) {
    await Promise.all(Array.from({ length: SUBMITTED_AT_ONCE }, () => submitOne(harness)));
  }
  const runner = await startRunnerProcess(harness);
  try {
    const from = await ended(harness, BACKLOG * 0.1);
    const to = await ended(harness, BACKLOG * 0.9);
    return (to.runs - from.runs) / ((to.at - from.at) / 1_000);
  } finally {
    await runner.stop();
  }
}

async function submitOne({ runs }: Harness): Promise<void> {
  const submitted = await submit(runs, {
    project: PROJECT,
    workflow: WORKFLOW,
    workflowUid: workflowUid(WORKFLOW),
    revision: `${WORKFLOW}-1`,
    trigger: 'webhook',
    input: `{"text_content":"","data_content":${EVENT}}`,
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error(`A run was not accepted: ${submitted.outcome}`);
}

async function ended({ runs }: Harness, atLeast: number): Promise<{ runs: number; at: number }> {
  return pollUntil(
    `${atLeast} runs being executed`,
    async () => {
      const counts = await readCounts(runs, PROJECT, workflowUid(WORKFLOW));
      if (isUnavailable(counts)) return undefined;
      if (counts.failed > 0) throw new Error(`${counts.failed} runs failed`);
      return counts.succeeded >= atLeast && { runs: counts.succeeded, at: performance.now() };
    },
    { timeoutMs: 120_000, everyMs: 20 },
  );
}

function figures({ echoes, replies, crowd }: Rounds, perSecond: number): Figure[] {
  const p50 = (rounds: Measured[]) => median(rounds.map((round) => round.p50Ms));
  const p99 = (rounds: Measured[]) => median(rounds.map((round) => round.p99Ms));
  const above = median(replies.map((round, at) => round.p50Ms - (echoes[at]?.p50Ms ?? Number.NaN)));
  return [
    { name: 'echo p50, 1 connection', value: p50(echoes), unit: 'ms' },
    { name: 'reply p50, 1 connection', value: p50(replies), unit: 'ms' },
    {
      name: 'reply p50 above echo p50',
      value: above,
      unit: 'ms',
      goal: { at: 'most', value: 5, of: 'value' },
    },
    { name: 'reply p99, 1 connection', value: p99(replies), unit: 'ms' },
    { name: 'replies, 32 connections, all on one machine', value: crowd.perSecond, unit: 'replies/s' },
    { name: 'runs per runner process at saturation', value: perSecond, unit: 'runs/s' },
  ];
}
