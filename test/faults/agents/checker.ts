/**
 * Compares what agents did outside, how their runs ended, what they remember and what they were charged with
 * what `docs/agents.md`, `docs/budgets.md` and `docs/chat.md` promise. Pure.
 */
import type { Violation } from '../violation.ts';
import { checkCharges } from './charges.ts';
import { checkChats } from './chats.ts';
import { checkMemories, type Remembered } from './memories.ts';
import { CALLED } from './model.ts';
import type { Scene } from './points.ts';
import { messageRuns, type AgentRun, type ModelRequest, type SceneEvidence, type Tell } from './seen.ts';

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
