/**
 * Advances a run: checkpoints, the reply, start marks before effects, the end. Each call is one script: it is
 * stored as a whole or not at all, and only for the runner that holds the run.
 */
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { argumentsOf } from '../store/script.ts';
import { ADVANCE, sendStep } from './advanceScript.ts';
import { endArgs, plainEndArgs } from './end.ts';
import type { Ender } from './ender.ts';
import { memoryEndRows } from './memory.ts';
import { RUN_LIMIT_BYTES } from './room.ts';
import { rememberedRow } from './seen.ts';
import { rowsOf, storedNodes } from './storedNodes.ts';
import type { Advance, AgentCall, Seen, TooLarge } from './types/advance.ts';
import type { ClaimRef, Fenced, Rewound } from './types/claim.ts';
import type { NodeStart, NodeState } from './types/node.ts';
import type { RunEnd } from './types/result.ts';

/** The largest value in the run store: an event, the output of a node, a reply. */
export const VALUE_LIMIT_BYTES = 512 * 1024;
/**
 * The oldest answer with which effects may begin, which is how long a call may take. A process that was
 * suspended may read an older one before its timers notice, when another runner may hold the run. Far below
 * the time of a takeover.
 */
const MARK_VALID_MS = 1_500;
/** The end of a step that ends no run. */
const NO_END = { phase: '', reason: '', message: '', end_event: '', result: '' } as const;

/**
 * Stores checkpoints, reply, start marks and end or wait of a run, in one round trip and with one fsync. Of
 * several replies the first is stored. Refuses a value above 512 KiB, and outputs and replies with which the
 * run is above 8 MiB; never start marks, ends, or checkpoints without outputs. Start marks of `AtMostOnce`
 * steps are answered once all replicas that may be promoted have them. Start marks whose answer is read late
 * are `unavailable`: the caller repeats the call to learn whether it still holds the run. `rewound`: the
 * store has an older state of the run than the step follows, and stored nothing; store it again as a `whole`
 * step. `seen`: another run has seen one of the keys to remember; nothing was stored. `endTogether`: ends the
 * run together with others where its last step is a simple one.
 */
export async function advance(
  conn: RunStoreConnection,
  ref: ClaimRef,
  step: Advance,
  endTogether?: Ender,
): Promise<Fenced | TooLarge | Rewound | Seen> {
  const {
    checkpoints = [],
    reply,
    starts = [],
    waits = [],
    dropped = [],
    consumed = [],
    end,
    remember = [],
    parkMs,
    signalsRead = '',
    follows,
    whole,
    isInDoubt,
    agents = [],
    ...ofCalls
  } = step;
  const { calls, callArgs } = argsOfCalls(ofCalls);
  const replyText = reply === undefined ? '' : JSON.stringify(reply);
  const stored = nodesToStore({ checkpoints, starts, agents });
  if (isTooLarge(replyText) || stored.some(isLarge) || calls.some(isLarge))
    return { outcome: 'too-large', what: 'value', limitBytes: VALUE_LIMIT_BYTES };
  const rows = rowsOf(stored, waits);
  const askedAt = performance.now();
  const last = endTogether && isSimpleEnd(ref, step);
  return orUnavailable(async (): Promise<Fenced | TooLarge | Rewound | Seen> => {
    if (last && (await endTogether({ ref, follows: step.follows, reply: replyText, nodes: rows.nodes })))
      return { outcome: 'done', cancelRequested: false };
    const args = argumentsOf(ADVANCE, {
      run_id: ref.run,
      token: ref.token,
      reply: replyText,
      park: parkMs === undefined ? '' : Math.ceil(parkMs),
      read: signalsRead,
      follows: follows ?? '',
      whole: whole ? '1' : '',
      in_doubt: isInDoubt ? '1' : '',
      waits: rows.waits,
      item_nodes: rows.itemNodes,
      dropped: dropped.map((key) => [key]),
      consumed: consumed.map((field) => [field]),
      nodes: rows.nodes,
      remembered: remember.map((each) => rememberedRow(ref.run, each)),
      // Last: properties after a spread are defined slowly, one by one.
      ...progressArgs(checkpoints, calls),
      ...argsOfEnd(ref, end),
      ...callArgs,
    });
    const send = () => sendStep(conn, ref, args, { remember, parkMs, end });
    const answer = await (allowsEffect(starts, calls) ? conn.replicated(ref.project, send) : send());
    const outcome = outcomeOf(answer);
    if (outcome.outcome !== 'done' || (starts.length === 0 && calls.length === 0)) return outcome;
    return performance.now() - askedAt > MARK_VALID_MS ? LATE : outcome;
  });
}

/** Of a mark whose answer was read late. */
const LATE = { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 } as const;

/** What the script of `advance` answers. */
function outcomeOf(answer: unknown): Fenced | TooLarge | Rewound | Seen {
  if (answer === 'too-large') return { outcome: 'too-large', what: 'run', limitBytes: RUN_LIMIT_BYTES };
  if (answer === 'fenced' || answer === 'rewound' || answer === 'seen') return { outcome: answer };
  const flags = Number(answer);
  return {
    outcome: 'done',
    cancelRequested: flags % 2 === 1,
    ...(flags >= 2 && { signaled: true }),
  };
}

/** What the last step of a run has mostly none of. */
const RARE = [
  'starts',
  'waits',
  'dropped',
  'consumed',
  'calls',
  'droppedCalls',
  'memories',
  'agents',
  'remember',
] as const satisfies readonly (keyof Advance)[];

/** Whether the step can end the run together with others. */
function isSimpleEnd({ isPlain, parent }: ClaimRef, step: Advance): step is Advance & { follows: number } {
  const { end, whole, parkMs, reservedBytes = 0 } = step;
  if (
    !isPlain ||
    parent ||
    end?.phase !== 'Succeeded' ||
    end.reason !== undefined ||
    end.message !== undefined
  )
    return false;
  if (step.follows === undefined || whole || parkMs !== undefined || reservedBytes > 0) return false;
  return RARE.every((name) => (step[name]?.length ?? 0) === 0);
}

/**
 * Whether an effect that must not be repeated may begin with the answer: its start mark has to outlive the
 * server. Answers of models are start marks of the tools that they call.
 */
function allowsEffect(starts: readonly NodeStart[], calls: readonly AgentCall[]): boolean {
  return calls.length > 0 || starts.some(({ atMostOnce }) => atMostOnce);
}

function argsOfEnd({ parent }: ClaimRef, end: RunEnd | undefined) {
  if (!end) return NO_END;
  return parent ? endArgs(end) : plainEndArgs(end);
}

/** The arguments about calls and memories of agents. */
function argsOfCalls({
  calls = [],
  droppedCalls = [],
  memories = [],
  reservedBytes = 0,
}: Pick<Advance, 'calls' | 'droppedCalls' | 'memories' | 'reservedBytes'>) {
  const callArgs = {
    reserved: reservedBytes,
    new_calls: calls.map(({ key, value }) => [key, value]),
    dropped_calls: droppedCalls.map((key) => [key]),
    memory_ends: memoryEndRows(memories),
  };
  return { calls, callArgs };
}

/** What a node has sent is only shown: a node that is too large with it is stored without it. */
function nodesToStore(step: Parameters<typeof storedNodes>[0]): ReturnType<typeof storedNodes> {
  const stored = storedNodes(step);
  if (!stored.some(isLarge) || !step.checkpoints) return stored;
  const checkpoints = step.checkpoints.map(({ sent: _sent, ...node }) => node);
  return storedNodes({ ...step, checkpoints });
}

/** Whether the step is progress, and whether the limit of the run may refuse it. */
function progressArgs(checkpoints: readonly NodeState[], calls: readonly AgentCall[]) {
  const isRefusable =
    checkpoints.some(({ output }) => output !== undefined) || calls.some(({ isAnswer }) => isAnswer);
  return {
    checkpoints: checkpoints.length > 0 || calls.length > 0 ? '1' : '0',
    outputs: isRefusable ? '1' : '0',
  };
}

function isLarge({ value }: { value: string }): boolean {
  return isTooLarge(value);
}

/** Bytes are at most three times the characters, so that most texts need no counting. */
function isTooLarge(text: string): boolean {
  return text.length * 3 > VALUE_LIMIT_BYTES && Buffer.byteLength(text) > VALUE_LIMIT_BYTES;
}
