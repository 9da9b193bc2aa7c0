/**
 * What is true of an open project whatever happened to it: indexes, counters and bytes agree with the runs.
 */
import { isTerminal } from '../../api/phase.ts';
import { workflowOfGroup } from '../../store/groups.ts';
import { bytesProblems } from './bytes.ts';
import type { DumpedKey, Run, State, Workflow } from './state.ts';

/** What is not true, a sentence each. */
export function invariantProblems(state: State, dump: readonly DumpedKey[], prefix: string): string[] {
  return [
    ...Object.entries(state.runs).flatMap(([name, run]) => runProblems(state, name, run)),
    ...Object.entries(state.workflows).flatMap(([uid, workflow]) => workflowProblems(state, uid, workflow)),
    ...bytesProblems(dump, prefix),
  ];
}

function runProblems(state: State, name: string, run: Run): string[] {
  const { due, token, phase, dropped } = run;
  const where = placesOf(run);
  const isOver = isTerminal(phase);
  return broken(name, [
    [where.length === (isOver ? 0 : 1), `is ${phase} and in ${where.join(' and ') || 'no queue'}`],
    [isOver === (run.ended !== undefined), `is ${phase} and ${isOver ? 'has no' : 'has an'} end`],
    [!isOver || !(run.cancel || run.live), 'has ended and is still to be cancelled or replaced'],
    [token === undefined || phase === 'Running', `is claimed and ${phase}`],
    [due === undefined || phase === 'Waiting', `is parked and ${phase}`],
    [!isOver || run.isRecorded === undefined, 'has ended and counts as unfinished'],
    [run.listed === !dropped, 'is in the list of runs, or not, against what is recorded'],
    [!isOver || dropped || run.out !== undefined, 'has ended, and nobody will record it'],
    [!dropped || isOver, 'is released before its end'],
    [!run.unreported || isFailure(state, name, run), 'waits for the start of a workflow that nobody starts'],
    [dropped || isKnown(state, name, run), 'has no dedupe key, or one that is of another run or expires'],
  ]);
}

function placesOf({ ready, due, token, overLimit }: Run): string[] {
  const places = {
    ready: ready !== undefined,
    due: due !== undefined,
    claims: token !== undefined,
    overLimit,
  };
  return Object.entries(places).flatMap(([place, isThere]) => (isThere ? [place] : []));
}

/** Whether its failure may start a workflow, and its end is not recorded before. */
function isFailure({ failures }: State, name: string, { phase, dropped }: Run): boolean {
  return phase === 'Failed' && !dropped && failures[name] !== undefined;
}

/** Whether its event, sent again, finds this run. */
function isKnown({ keys }: State, name: string, { head, wf }: Run): boolean {
  const { dedupeHash } = JSON.parse(head) as { dedupeHash?: string };
  if (dedupeHash === undefined) return true;
  const key = Object.entries(keys).find(([at]) =>
    at.endsWith(`:dk:${workflowOfGroup(wf)}:${dedupeHash}`),
  )?.[1];
  return key !== undefined && key.run === name && !key.expires;
}

function workflowProblems(state: State, uid: string, workflow: Workflow): string[] {
  const own = Object.values(state.runs).filter(({ wf }) => wf === uid);
  const slots = own.filter(({ ready, token }) => ready !== undefined || token !== undefined).length;
  const open = own.filter(({ ended }) => ended === undefined).length;
  const { active, limit = Infinity, accepted, ended, waiting } = workflow;
  const isOverLimit = own.some(({ overLimit }) => overLimit);
  const over = Object.values(ended).reduce((sum, count) => sum + count, 0);
  return broken(`workflow ${uid}`, [
    [active === slots, `counts ${active} slots in use, there are ${slots}`],
    [!isOverLimit || active >= limit, `holds runs back with ${active} of ${limit} slots in use`],
    [accepted - over === open, `has ${accepted} accepted and ${over} ended runs, and ${open} that are open`],
    ...Object.entries(waiting).map(([phase, count]): Claim => {
      const found = own.filter((run) => run.phase === phase && !run.dropped).length;
      return [
        count === found,
        `counts ${count} ${phase} runs that wait for their record, there are ${found}`,
      ];
    }),
  ]);
}

type Claim = [isTrue: boolean, otherwise: string];

function broken(subject: string, claims: Claim[]): string[] {
  return claims.flatMap(([isTrue, otherwise]) => (isTrue ? [] : [`${subject} ${otherwise}`]));
}
