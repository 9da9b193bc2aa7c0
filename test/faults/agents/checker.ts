/**
 * Compares what agents did outside, how their runs ended, what they remember and what they were charged with
 * what `docs/agents.md`, `docs/budgets.md` and `docs/chat.md` promise. Pure.
 */
import type { MemoryTurn } from '../../../api/memory.ts';
import type { Violation, ViolationKind } from '../violation.ts';
import { checkCharges, type Charges } from './charges.ts';
import { checkMemories, type Remembered } from './memories.ts';
import { CALLED, CALLING, finalAnswer, type ChatMessage } from './model.ts';
import type { Scene } from './points.ts';
import { AGENT } from './workflows.ts';

/** A request that reached the model. `step`: which answer of its message, from 1. */
export type ModelRequest = {
  scene: string;
  step: number;
  key: string;
  /** The model sent the whole answer. */
  isAnswered: boolean;
  messages: readonly ChatMessage[];
};

/** The effect of a tool, or of the node after the agent. */
export type Effect = { scene: string; tool: string; key: string };

/** What a person saw of a message. */
export type ChatSeen = {
  id: string;
  text: string;
  /** How many streams had to be opened. */
  streams: number;
  refusals: number[];
  /** The text of the last stream before its end. */
  shown: string;
  /** The stream said that text before is missing. */
  isPartial: boolean;
  /** Left out: no end came in time. */
  end?: { done: string } | { error: string };
};

/** A run as its record shows it. `tokens`: what is charged to it. */
export type AgentRun = {
  run: string;
  workflow: string;
  phase: string;
  reason?: string;
  message?: string;
  tokens: number;
  retryOf?: string;
};

/** The answer to a retry from the failed node: without a decision, and the run with one. */
export type Retried = { withoutDecision: string; run?: string };

export type SceneEvidence = {
  scene: Scene;
  /** How many of its faults happened at their points. */
  hits: number;
  chats: readonly ChatSeen[];
  /** A further message of the same session, after all faults. */
  again?: ChatSeen;
  runs: readonly AgentRun[];
  requests: readonly ModelRequest[];
  effects: readonly Effect[];
  memories: readonly (readonly MemoryTurn[])[];
  charges: Charges;
  retried?: Retried;
};

export type Tell = (kind: ViolationKind, message: string) => Violation;

/** What contradicts the promises. */
export function checkScene(evidence: SceneEvidence): Violation[] {
  const { scene } = evidence;
  const tell: Tell = (kind, message) => ({ kind, event: scene.id, message: `${scene.id}: ${message}` });
  if (evidence.hits < scene.blows.length)
    return [tell('not-reached', `${evidence.hits} of ${scene.blows.length} faults came to their points`)];
  return [
    ...checkEnds(evidence, tell),
    ...checkTools(evidence, tell),
    ...checkRequests(evidence, tell),
    ...checkChats(evidence, tell),
    ...checkMemories(rememberedOf(evidence), tell),
    ...checkCharges(evidence, tell),
    ...checkRetried(evidence, tell),
  ];
}

/** The runs of the messages, in their order, without retries. */
export function messageRuns({ runs }: Pick<SceneEvidence, 'runs'>): AgentRun[] {
  return runs.filter(({ workflow, retryOf }) => workflow === AGENT && retryOf === undefined);
}

const told = ({ phase, reason = '', message = '' }: AgentRun): string => `${phase} ${reason}: ${message}`;
const isRefused = ({ phase, message = '' }: AgentRun): boolean =>
  phase === 'Failed' && message.includes('BudgetExceeded');

const ENDS: Record<Scene['expected'], (run: AgentRun) => boolean> = {
  Succeeded: ({ phase }) => phase === 'Succeeded',
  Unknown: ({ phase, reason }) => phase === 'Failed' && reason === 'EffectUnknown',
  Refused: isRefused,
  Any: (run) => run.phase === 'Succeeded' || isRefused(run),
};

function checkEnds(evidence: SceneEvidence, tell: Tell): Violation[] {
  const { scene, chats, again, runs } = evidence;
  const own = messageRuns(evidence);
  const expected = chats.length + (again ? 1 : 0);
  const late = runs.filter(({ phase }) => !['Succeeded', 'Failed', 'Cancelled'].includes(phase));
  const wrong = own.filter(
    (run, index) => !ENDS[index < chats.length ? scene.expected : 'Succeeded'](run) && !late.includes(run),
  );
  return [
    ...(own.length === expected ? [] : [tell('another-run', `${own.length} runs for ${expected} messages`)]),
    ...late.map((run) => tell('late', `run ${run.run} of ${run.workflow} is ${told(run)}`)),
    ...wrong.map((run) => tell('failed', `expected ${scene.expected}, run ${run.run} is ${told(run)}`)),
  ];
}

/** Effects of all tools, and of the node after the agent, where the agent has succeeded. */
function checkTools({ scene, effects, requests }: SceneEvidence, tell: Tell): Violation[] {
  const mails = effects.filter(({ tool }) => tool === 'mail');
  const first = runOf(requests[0]);
  const found: Violation[] = [];
  if (mails.length > 1) found.push(tell('effect-twice', `the mail was sent ${mails.length} times`));
  if (scene.mails !== undefined && mails.length < scene.mails)
    found.push(tell('effect-missing', 'no mail was sent'));
  if (mails.length > (scene.mails ?? 1)) found.push(tell('effect-of-nothing', 'a mail was sent'));
  const expected = scene.expected === 'Succeeded' ? [...CALLED[scene.mode], 'after'] : [];
  for (const tool of ['lookup', 'mail', 'refund', 'after']) {
    const own = effects.filter((effect) => effect.tool === tool);
    // A further message of the session comes to the node after the agent as well.
    const isFirst = (key: string) => tool !== 'after' || scene.sessions > 1 || key.includes(first);
    const keys = new Set(own.map(({ key }) => key).filter(isFirst));
    if (keys.size > scene.sessions)
      found.push(tell('effect-under-two-keys', `${tool} was called under ${[...keys].join(', ')}`));
    if (expected.includes(tool) && keys.size < scene.sessions)
      found.push(tell('effect-missing', `${tool} was called for ${keys.size} messages`));
  }
  return found;
}

/** `<project>/<run>/<node>/…`. */
const runOf = (request: ModelRequest | undefined): string => request?.key.split('/')[1] ?? 'none';

/** An answer that is stored is not asked for again: each fault repeats one request at most, under its key. */
function checkRequests({ scene, requests }: SceneEvidence, tell: Tell): Violation[] {
  const byAnswer = Map.groupBy(requests, (request) => `${runOf(request)} ${request.step}`);
  const repeated = requests.length - byAnswer.size;
  const most = scene.blows.length * scene.sessions;
  return [
    ...[...byAnswer].flatMap(([answer, asked]) =>
      new Set(asked.map(({ key }) => key)).size > 1
        ? [tell('effect-under-two-keys', `answer ${answer} was asked for under several keys`)]
        : [],
    ),
    ...(repeated > most ? [tell('effect-twice', `${repeated} requests were repeated`)] : []),
  ];
}

function checkChats(evidence: SceneEvidence, tell: Tell): Violation[] {
  const { chats, again } = evidence;
  const own = messageRuns(evidence);
  const counts = Map.groupBy(own, ({ phase }) => phase === 'Succeeded');
  const ends = [...chats, ...(again ? [again] : [])];
  const answered = ends.filter(({ end }) => end && 'done' in end).length;
  // The answer is complete before the run ends, whatever becomes of it.
  const isCounted = answered === (counts.get(true) ?? []).length;
  return [
    ...ends.flatMap((seen) => checkChat(seen, tell)),
    ...(isCounted ? [] : [tell('wrong-answer', `${answered} of ${ends.length} messages were answered`)]),
  ];
}

function checkChat({ id, text, end, shown, isPartial }: ChatSeen, tell: Tell): Violation[] {
  if (!end) return [tell('late', `message ${id} got no end`)];
  if ('error' in end) return [];
  if (end.done !== finalAnswer(text)) return [tell('wrong-answer', `message ${id} got: ${end.done}`)];
  // The end may overtake the last text, which is joined over 50 ms.
  if (isPartial || end.done.startsWith(shown) || CALLING.startsWith(shown)) return [];
  return [tell('wrong-answer', `message ${id} was shown: ${shown}`)];
}

function rememberedOf(evidence: SceneEvidence): Remembered {
  const { scene, again, requests, memories } = evidence;
  return { scene, again, requests, memories, runs: messageRuns(evidence) };
}

/** An effect in doubt is never resumed without somebody's decision. */
function checkRetried({ scene, retried, runs }: SceneEvidence, tell: Tell): Violation[] {
  if (scene.expected !== 'Unknown') return [];
  if (!retried?.withoutDecision.startsWith('409 decision-missing'))
    return [tell('no-decision', `a retry without a decision got ${retried?.withoutDecision}`)];
  const resumed = runs.find(({ run }) => run === retried.run);
  if (resumed?.phase === 'Succeeded') return [];
  return [tell('failed', `the run with a decision is ${resumed ? told(resumed) : 'missing'}`)];
}
