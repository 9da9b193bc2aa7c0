/**
 * Ends runs whose ends come one by one: those of one turn of the event loop in one call, or in several where
 * they are many. The run store then does once for all of a call what it would do for each.
 */
import { isDamage, serverError } from '../store/callErrors.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { keysOf } from '../store/keys.ts';
import { argumentsOf } from '../store/script.ts';
import { groupOfToken } from './claimToken.ts';
import { plainEndArgs } from './end.ts';
import { END_TOGETHER } from './endScript.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { ClaimRef } from './types/claim.ts';

/** The last step of a run that succeeds: the sequence that it follows, its reply, and its nodes. */
export type LastStep = {
  ref: ClaimRef;
  follows: number;
  reply: string;
  /** The field, the value and the event of each. */
  nodes: readonly (readonly string[])[];
};

/**
 * Ends the run with other ones. Answers whether it has ended; otherwise nothing is changed, and the step is
 * to be sent by itself. Throws as the connection does: the run may have ended.
 */
export type Ender = (step: LastStep) => Promise<boolean>;

type Waiting = { step: LastStep; resolve: (ended: Promise<boolean> | boolean) => void };

/**
 * So many runs end at once, before the turn ends: the run store begins with them while this process ends the
 * other runs of the turn.
 */
const MOST_ENDS = 16;
/** The most characters of a call: while it is executed, the run store does nothing else. */
const MOST_CHARACTERS = 64 * 1024;
/** The most nodes of a step. */
const MOST_NODES = 100;

export function createEnder(conn: RunStoreConnection): Ender {
  let waiting: Waiting[] = [];
  let characters = 0;
  const send = () => {
    const call = waiting;
    waiting = [];
    characters = 0;
    for (const of of Map.groupBy(call, ({ step }) => step.ref.project).values()) endCall(conn, of);
  };
  return (step) => {
    const length = lengthOf(step);
    const { project, run } = step.ref;
    const isKnown = waiting.some(({ step: { ref } }) => ref.run === run && ref.project === project);
    if (isKnown || length > MOST_CHARACTERS || step.nodes.length > MOST_NODES) return Promise.resolve(false);
    if (characters + length > MOST_CHARACTERS) send();
    return new Promise((resolve) => {
      // After all that follows in this turn, and before its calls are written.
      if (waiting.length === 0) process.nextTick(send);
      waiting.push({ step, resolve });
      characters += length;
      if (waiting.length === MOST_ENDS) send();
    });
  };
}

function lengthOf({ reply, nodes }: LastStep): number {
  let length = reply.length;
  for (const texts of nodes) for (const text of texts) length += text.length;
  return length;
}

function endCall(conn: RunStoreConnection, call: readonly Waiting[]): void {
  const [first, second] = call;
  if (!first) return;
  // A call of its own costs less for a single one.
  if (!second) return first.resolve(false);
  const steps = call.map(({ step }) => step);
  const answers = endTogether(conn, first.step.ref, steps);
  call.forEach(({ resolve }, index) => resolve(answers.then((ended) => ended[index] === 1)));
}

/** For each run 1 where it has ended. `any`: one of them. */
async function endTogether(
  conn: RunStoreConnection,
  any: ClaimRef,
  steps: readonly LastStep[],
): Promise<readonly number[]> {
  const keys = keysOf(any.project);
  const args = argumentsOf(END_TOGETHER, {
    ...plainEndArgs({ phase: 'Succeeded' }),
    nodes: steps.flatMap(({ nodes }, index) => nodes.map((node) => [index + 1, ...node])),
    ends: steps.map(({ ref, follows, reply }) => [ref.run, ref.token, follows, reply]),
  });
  const ownKeys = steps.flatMap(({ ref: { run, token } }) => [
    keys.wf(groupOfToken(token)),
    keys.run(run),
    keys.events(run),
  ]);
  try {
    const shared = scriptKeys(END_TOGETHER, any);
    return (await conn.script(END_TOGETHER, [...shared, ...ownKeys], args)) as number[];
  } catch (error) {
    // One of the runs has a key of a wrong type: the others end by themselves.
    if (isDamage(serverError(error))) return [];
    throw error;
  }
}
