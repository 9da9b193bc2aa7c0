/**
 * A runner that executes what it claims, step by step as the history says. What the store did not answer it
 * asks again, and does nothing else with that run before; a claim that is another's it drops without a word.
 */
import { DISABLED } from '../../../api/disabled.ts';
import { isTerminal } from '../../../api/phase.ts';
import { RunWriter } from '../../../runner/writer.ts';
import { removeHeartbeat, sendPulse } from '../../../runs/pulse.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { wakeDue } from '../../../runs/due.ts';
import { createEnder } from '../../../runs/ender.ts';
import { handBack, handBackAll } from '../../../runs/handback.ts';
import { closeSignal, readSignals } from '../../../runs/signals.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { submitChild } from '../../../runs/submit.ts';
import type { Advance } from '../../../runs/types/advance.ts';
import type { Claim, Fenced } from '../../../runs/types/claim.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import { sweepFailuresOnce, takeOverOnce } from '../scripts.ts';
import type { Harness } from '../harness.ts';
import { DISABLED_NODE, eventOf, isPlain, NODES } from '../workflows.ts';

/** What a runner may do next with a run that it holds. */
export const WORK = [
  'start',
  'succeed',
  'fail',
  'reply',
  'wait',
  'passOver',
  'end',
  'handBack',
  'startItem',
  'waitItem',
  'endItem',
  'readSignals',
  'closeSignal',
  'child',
] as const;
/** `childInDoubt`: a child, of a run in doubt only. */
export type Work = (typeof WORK)[number] | 'childInDoubt';

type Node = Pick<NodeState, 'phase' | 'attempts'> & { isOurs: boolean };
type InFlightRun = {
  run: string;
  writer: RunWriter;
  /** It was put back from a record, and may have gone on after that. */
  isInDoubt: boolean;
  isPlain: boolean;
  nodes: Map<string, Node>;
  /** The version of the signals that it has read. */
  signalsRead: string;
  group: string;
  /** What was not answered: it is asked again. */
  unanswered?: () => Promise<Fenced>;
  /** What follows where it is done. */
  onDone: () => void;
  isBusy: boolean;
};

/** A closed signal is an answer like others. */
const onlyFenced = (closed: Awaited<ReturnType<typeof closeSignal>>): Fenced =>
  closed.outcome === 'closed' ? { outcome: 'done', cancelRequested: false } : closed;

const nothing = (): void => undefined;
const QUIET = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export type Runner = ReturnType<typeof createRunner>;

/** Whether the work is about children or signals of the run. */
const isOfOthers = (work: Work) =>
  work.startsWith('child') || work === 'readSignals' || work === 'closeSignal';

/** Whether plain runs have this work. */
const isOfPlain = (work: Work) => !isOfOthers(work) && !work.endsWith('Item');

/** The connection, each answer of which comes in a millisecond of its own. */
function inOwnMilliseconds(conn: RunStoreConnection, next: () => Promise<void>): RunStoreConnection {
  return {
    ...conn,
    script: async (...call) => {
      const answer = await conn.script(...call);
      await next();
      return answer;
    },
    command: async (...call) => {
      const answer = await conn.command(...call);
      await next();
      return answer;
    },
  };
}

/** A runner of that name; the connection is its own. */
export function createRunner(harness: Harness, name: string) {
  const { project, store, ledger, problems, nextMillisecond } = harness;
  const conn: RunStoreConnection = store.connect();
  const namingConn = inOwnMilliseconds(conn, nextMillisecond);
  const endTogether = createEnder(conn);
  let inFlight: InFlightRun[] = [];
  let isClaiming = false;

  function drop(run: InFlightRun): void {
    inFlight = inFlight.filter((other) => other !== run);
  }

  /** Asks until it is answered, a step of the history at a time. */
  async function ask(run: InFlightRun, call: () => Promise<Fenced>, onDone: () => void): Promise<void> {
    Object.assign(run, { unanswered: call, onDone, isBusy: true });
    const answer = await call();
    run.isBusy = false;
    if (answer.outcome === 'fenced') drop(run);
    if (answer.outcome !== 'done') return;
    delete run.unanswered;
    onDone();
  }

  async function move(run: InFlightRun, step: Advance, onDone: (isKept: boolean) => void): Promise<void> {
    // A run that shall be cancelled or has unread signals is not parked.
    let isKept = false;
    const call = async (): Promise<Fenced> => {
      const waiting = [...run.nodes].filter(([, { phase }]) => phase === 'Waiting');
      const waits = waiting.map(([id]) => ({ id, delayMs: 1_000 }));
      const answer = await run.writer.store({ ...step, signalsRead: run.signalsRead }, waits);
      if (answer.outcome === 'too-large' || answer.outcome === 'seen')
        throw new Error(`a step of a history is ${answer.outcome}`);
      isKept = answer.outcome === 'done' && (answer.cancelRequested || answer.signaled === true);
      return answer;
    };
    await ask(run, call, () => onDone(isKept));
  }

  async function start(run: InFlightRun, { id, atMostOnce }: (typeof NODES)[number]): Promise<void> {
    const { phase, attempts = 0, isOurs } = run.nodes.get(id) ?? { isOurs: false };
    if (phase !== undefined && phase !== 'Waiting' && (phase !== 'Running' || isOurs)) return undefined;
    // Another runner began it, or may have: whether it was done nobody knows.
    if (atMostOnce && (phase === 'Running' || run.isInDoubt)) return settle(run, id, 'Unknown');
    const attempt = phase === 'Running' ? attempts : attempts + 1;
    return move(run, { starts: [{ id, attempt, atMostOnce, at: store.now() }] }, () => {
      run.nodes.set(id, { phase: 'Running', attempts: attempt, isOurs: true });
      problems.push(...ledger.execute(store.state(), run.run, id, atMostOnce));
    });
  }

  function settle(
    run: InFlightRun,
    id: string,
    phase: NodeState['phase'],
    rest: Advance = {},
  ): Promise<void> {
    const { attempts = 1 } = run.nodes.get(id) ?? {};
    if (phase === 'Failed' || phase === 'Waiting') ledger.undo(run.run, id);
    const text = `${id} of ${run.run}, attempt ${attempts}`;
    const output = { text_content: text, data_content: null };
    const node = { id, phase, attempts, endedAt: store.now(), ...(phase === 'Succeeded' && { output }) };
    return move(run, { checkpoints: [node], ...rest }, (isKept) => {
      run.nodes.set(id, { phase, attempts, isOurs: true });
      if (rest.end || (rest.parkMs !== undefined && !isKept)) drop(run);
    });
  }

  /** A disabled step is reached: it ends without a start, once. */
  async function passOver(run: InFlightRun): Promise<void> {
    if (run.nodes.get(DISABLED_NODE) !== undefined) return;
    const endedAt = store.now();
    const node: NodeState = { id: DISABLED_NODE, phase: 'Skipped', attempts: 0, endedAt, reason: DISABLED };
    await move(run, { checkpoints: [node] }, () => {
      run.nodes.set(DISABLED_NODE, { phase: 'Skipped', attempts: 0, isOurs: true });
    });
  }

  /** Items of a loop: they start, wait and end in any order, since the store decides nothing from them. */
  function item(run: InFlightRun, work: Work, at: number): Promise<void> {
    const id = `each.${at % 2}`;
    const loop: NodeState = { id: 'each', phase: 'Running', attempts: 1 };
    const node = `${id}.0.1/send`;
    if (work === 'startItem')
      return move(
        run,
        { checkpoints: [loop], starts: [{ id: node, attempt: 1, atMostOnce: false, at: store.now() }] },
        nothing,
      );
    if (work === 'waitItem')
      return move(
        run,
        { checkpoints: [loop, { id, phase: 'Waiting', attempts: 1 }], waits: [{ id, delayMs: 1_000 }] },
        nothing,
      );
    const output = { text_content: '', data_content: at };
    const ended: NodeState = { id, phase: 'Succeeded', attempts: 1, output };
    return move(run, { checkpoints: [loop, ended], dropped: [node] }, nothing);
  }

  /** A child of the other workflow, for which the run waits: the same one for each `at`. */
  async function startChild({ run, group, writer, isInDoubt }: InFlightRun, at: number): Promise<void> {
    const parent = { run, node: 'note', group, root: run, path: ['a'], waits: true };
    const child = { ...eventOf(project, 'b', {}), run: `${run}-child-${at % 2}`, parent };
    const answer = await submitChild(conn, child, { token: writer.ref.token, isInDoubt });
    const isNew = answer.outcome === 'accepted' && !answer.duplicate;
    if (isNew && isInDoubt && store.state().runs[child.run]?.doubt === false)
      problems.push(`${child.run} was started by a run in doubt, and is not in doubt`);
  }

  async function readAllSignals(run: InFlightRun): Promise<void> {
    run.isBusy = true;
    const read = await readSignals(conn, run.writer.ref);
    run.isBusy = false;
    if (read.outcome === 'read') run.signalsRead = read.version;
  }

  function signalStep(run: InFlightRun, work: Work, at: number): Promise<void> {
    if (work === 'child') return startChild(run, at);
    if (work === 'childInDoubt') return run.isInDoubt ? startChild(run, at) : Promise.resolve();
    if (work === 'readSignals') return readAllSignals(run);
    const { id } = NODES[at % NODES.length] ?? NODES[0];
    return ask(run, async () => onlyFenced(await closeSignal(conn, run.writer.ref, id)), nothing);
  }

  /** One more step with a run; the node counts only where one can be meant. */
  function step(run: InFlightRun, work: Work, at: number): Promise<void> {
    const node = NODES[at % NODES.length] ?? NODES[0];
    const executing = [...run.nodes].find(([, { phase, isOurs }]) => phase === 'Running' && isOurs)?.[0];
    if (work === 'handBack')
      return ask(
        run,
        () => handBack(conn, run.writer.ref),
        () => drop(run),
      );
    if (run.isPlain && !isOfPlain(work)) return start(run, node);
    if (isOfOthers(work)) return signalStep(run, work, at);
    if (work === 'end') {
      const phase = (['Succeeded', 'Failed', 'Cancelled'] as const)[at % 3] ?? 'Failed';
      return move(run, { end: { phase } }, () => drop(run));
    }
    if (work.endsWith('Item')) return item(run, work, at);
    if (work === 'passOver') return passOver(run);
    if (work === 'start' || executing === undefined) return start(run, node);
    return endWork(run, executing, work, at);
  }

  /** Ends the node that is executed. */
  function endWork(run: InFlightRun, id: string, work: Work, at: number): Promise<void> {
    const reply = { status: 200, headers: {}, body: `reply ${at}`, contentType: 'text/plain' };
    if (work === 'reply') return settle(run, id, 'Succeeded', { reply });
    if (work === 'succeed') return settle(run, id, 'Succeeded');
    if (work === 'fail') return settle(run, id, 'Failed', { end: { phase: 'Failed', reason: 'NodeFailed' } });
    const delayMs = 1_000 * (1 + at);
    return settle(run, id, 'Waiting', { waits: [{ id, delayMs }], parkMs: delayMs });
  }

  /** The run succeeds, with the node that it executes. */
  function succeed(run: InFlightRun): Promise<void> {
    const end = { phase: 'Succeeded' } as const;
    const executing = [...run.nodes].find(([, { phase, isOurs }]) => phase === 'Running' && isOurs)?.[0];
    if (executing !== undefined) return settle(run, executing, 'Succeeded', { end });
    return move(run, { end }, () => drop(run));
  }

  function note(claim: Claim): void {
    const { run, nodes, phase, doubt = false } = claim.state;
    if (isTerminal(phase)) problems.push(`${run} was claimed after its end`);
    // One that is executed here already, of which the store lost the claim, goes on under the new one.
    if (inFlight.some((known) => known.run === run && known.writer.adopt(claim))) return;
    const known = nodes.map(({ id, ...node }): [string, Node] => [id, { ...node, isOurs: false }]);
    const plain = isPlain(claim.state.group);
    const writer = new RunWriter(conn, claim, QUIET, { isPlain: plain, endTogether });
    inFlight.push({
      run,
      writer,
      isInDoubt: doubt,
      isPlain: plain,
      nodes: new Map(known),
      isBusy: false,
      onDone: nothing,
      signalsRead: '',
      group: claim.state.group,
    });
  }

  return {
    name,
    inFlight: () => inFlight.length,
    claim: async (max: number) => {
      if (isClaiming) return;
      isClaiming = true;
      const answer = await claimRuns(conn, { project, runner: name, max });
      isClaiming = false;
      if (answer.outcome === 'claimed') answer.claims.forEach(note);
    },
    work: async (index: number, work: Work, at: number) => {
      const run = inFlight[index % inFlight.length];
      if (!run || run.isBusy) return;
      if (run.unanswered) await ask(run, run.unanswered, run.onDone);
      else await step(run, work, at);
    },
    /** Ends the runs that are simple enough in one turn, and thus together. */
    endAll: async () => {
      const idle = inFlight.filter(
        ({ isPlain: plain, isBusy, unanswered }) => plain && !isBusy && !unanswered,
      );
      await Promise.all(idle.map(succeed));
    },
    /** Hands back the claims that the store has for it and it does not know of. */
    sweep: async () => {
      if (isClaiming) return;
      const except = { has: (token: string) => inFlight.some(({ writer }) => writer.ref.token === token) };
      await handBackAll(conn, { project, runner: name, except });
    },
    beat: async () => void (await sendPulse(conn, project, name)),
    takeOver: () => takeOverOnce(conn, { project, runner: name }),
    /** Starts the workflows of failed runs. */
    startFailed: () => sweepFailuresOnce(namingConn, project),
    wake: async () => void (await wakeDue(conn, project)),
    leave: async () => {
      inFlight = [];
      await handBackAll(conn, { project, runner: name });
      await removeHeartbeat(conn, project, name);
    },
  };
}
