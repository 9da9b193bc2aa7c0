/** Whether agents remember each turn once and whole, and send it once. Pure. */
import type { MemoryTurn } from '../../../api/memory.ts';
import type { Violation } from '../violation.ts';
import type { AgentRun, ChatSeen, ModelRequest, Tell } from './seen.ts';
import { CALLED, finalAnswer, promptOf, type ChatMessage } from './model.ts';
import type { Scene } from './points.ts';

export type Remembered = {
  scene: Scene;
  again: ChatSeen | undefined;
  requests: readonly ModelRequest[];
  /** Of each session. */
  memories: readonly (readonly MemoryTurn[])[];
  /** Of the messages. */
  runs: readonly AgentRun[];
};

export function checkMemories(remembered: Remembered, tell: Tell): Violation[] {
  const { scene, memories, again } = remembered;
  return [
    ...checkTurns(remembered, tell),
    ...memories.flat().flatMap((turn) => checkTurn(scene, turn, tell)),
    ...(again ? checkHistory(remembered, again, tell) : []),
    ...(scene.isMemoryShared ? checkOrder(remembered, tell) : []),
  ];
}

/** An agent that failed before it called a tool has no turn. */
const hasTurn = ({ phase, reason }: AgentRun): boolean => phase === 'Succeeded' || reason === 'EffectUnknown';

function checkTurns({ memories, runs }: Remembered, tell: Tell): Violation[] {
  const stored = memories.flat().map(({ run }) => run);
  return runs.flatMap((run): Violation[] => {
    const count = stored.filter((of) => of === run.run).length;
    const expected = hasTurn(run) ? 1 : 0;
    if (count === expected) return [];
    const kind = count < expected ? 'memory-lost' : 'memory-twice';
    return [tell(kind, `run ${run.run} (${run.phase}) has ${count} turns`)];
  });
}

/** Each call has its result, and the answer is the model's. */
function checkTurn(scene: Scene, turn: MemoryTurn, tell: Tell): Violation[] {
  const calls = turn.steps.flatMap((step) => step.calls);
  const isWhole = calls.every(({ result }) => result !== '');
  const isAnswered = turn.failed ? scene.expected === 'Unknown' : turn.answer === finalAnswer(turn.user);
  const isComplete =
    turn.failed || turn.user !== promptOf(scene.id, scene.mode) || calls.length === CALLED[scene.mode].length;
  if (isWhole && isAnswered && isComplete) return [];
  return [tell('memory-broken', `the turn of run ${turn.run} is ${JSON.stringify(turn)}`)];
}

/** With the next message of the session the model was sent the turn, once, its calls with their results. */
function checkHistory({ scene, requests, runs }: Remembered, again: ChatSeen, tell: Tell): Violation[] {
  const first = promptOf(scene.id, scene.mode);
  const asked = requests.filter(({ messages }) => lastPrompt(messages) === again.text);
  const expected = runs[0] && hasTurn(runs[0]) ? 1 : 0;
  return asked.flatMap(({ messages }): Violation[] => {
    const sent = messages.filter(({ role, content }) => role === 'user' && content === first).length;
    if (sent < expected) return [tell('memory-lost', 'the model was not sent the turn before')];
    if (sent > expected) return [tell('memory-twice', `the model was sent the turn before ${sent} times`)];
    return areWhole(messages) ? [] : [tell('memory-broken', 'the model was sent a call without its result')];
  });
}

const lastPrompt = (messages: readonly ChatMessage[]): string | null | undefined =>
  messages.findLast(({ role }) => role === 'user')?.content;

function areWhole(messages: readonly ChatMessage[]): boolean {
  const called = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const answered = messages.flatMap(({ role, tool_call_id }) => (role === 'tool' ? [tool_call_id] : []));
  return called.length === answered.length && called.every((id) => answered.includes(id));
}

/** Agents with one memory come one after the other, and each is sent all turns before its own. */
function checkOrder({ requests }: Remembered, tell: Tell): Violation[] {
  const byRun = Map.groupBy(requests, ({ key }) => key.split('/')[1] ?? '');
  return [...byRun].flatMap(([run, asked], before): Violation[] => {
    const wrong = asked.map(({ messages }) => turnsIn(messages)).find((turns) => turns !== before);
    const kind = (wrong ?? 0) < before ? 'memory-lost' : 'memory-twice';
    return wrong === undefined
      ? []
      : [tell(kind, `run ${run} was sent ${wrong} turns after ${before} agents`)];
  });
}

const turnsIn = (messages: readonly ChatMessage[]): number =>
  messages.filter(({ role }) => role === 'user').length - 1;
