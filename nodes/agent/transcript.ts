/**
 * The transcript of an agent, rebuilt from its stored calls. Pure. Keys: `m<k>` is answer k of the model
 * (from 1), with the start marks of the tools that start with it; `m<k>.<i>` is the result of its tool call i
 * (from 0); `m<k>.<i>!` is the start mark of a tool call that started later, or the name of the child run of
 * a tool call that runs a workflow; `m<k>.<i>?` is why the effect of a tool call is in doubt, while other
 * calls of the answer wait for child runs.
 */
import { StepError } from '../../api/reasons.ts';
import type { TranscriptEntry } from '../../api/transcript.ts';
import type { ModelAnswer, ModelMessage, ModelToolCall } from '../contract/model.ts';
import type { FailedModel, ModelChoice } from './models.ts';

/** What is stored and shown to the model of a result, in bytes. */
const RESULT_LIMIT_BYTES = 32 * 1024;
/** The most bytes of the calls of one agent. */
const TRANSCRIPT_LIMIT_BYTES = 2 * 1024 * 1024;
/** Bytes of a stored result beside its text. */
const RESULT_OVERHEAD_BYTES = 256;
/** Characters of the name of a tool in a transcript: a model may make one up. */
const LONGEST_NAME = 256;
/** Answers in a row with a wrong call, after which the agent fails. */
const MOST_WRONG = 3;

/**
 * A stored answer. `chosen`: the model that gave it. `failed`: those that were asked before it. `marks`: the
 * `AtMostOnce` calls that started with it. Times are milliseconds since 1970.
 */
export type StoredAnswer = Pick<ModelAnswer, 'text' | 'toolCalls' | 'model' | 'usage' | 'raw'> & {
  attempt: number;
  chosen: ModelChoice;
  failed: readonly FailedModel[];
  startedAt: number;
  endedAt: number;
  marks: readonly number[];
  /** How many turns of the memory the model was sent. */
  memoryTurns?: number;
};

/** A stored result. `isWrong`: the call was wrong, and no tool was executed. */
export type StoredResult = {
  text: string;
  isError?: true;
  isWrong?: true;
  startedAt: number;
  endedAt: number;
};

/**
 * An answer with its results, with the calls that have a start mark, and with the child runs of calls that
 * run a workflow. `doubts`: why effects of calls are in doubt. `begun`: when the calls in progress started.
 */
export type Turn = {
  readonly answer: StoredAnswer;
  readonly results: (StoredResult | undefined)[];
  readonly marked: Set<number>;
  readonly children: Map<number, string>;
  readonly doubts: Map<number, string>;
  readonly begun: Map<number, number>;
};

export const answerKey = (step: number): string => `m${step}`;
export const resultKey = (step: number, call: number): string => `m${step}.${call}`;
export const markKey = (step: number, call: number): string => `m${step}.${call}!`;
export const doubtKey = (step: number, call: number): string => `m${step}.${call}?`;
/** What is stored under the key of a mark that is not a child run. */
export const STARTED = '1';

/** The turns in their order. */
export function turnsOf(stored: ReadonlyMap<string, string>): Turn[] {
  const turns: Turn[] = [];
  for (let step = 1; ; step += 1) {
    const text = stored.get(answerKey(step));
    if (text === undefined) return turns;
    const answer = JSON.parse(text) as StoredAnswer;
    const results = answer.toolCalls.map((_, call) => {
      const result = stored.get(resultKey(step, call));
      return result === undefined ? undefined : (JSON.parse(result) as StoredResult);
    });
    const late = answer.toolCalls.flatMap((_, call): [number, string][] => {
      const mark = stored.get(markKey(step, call));
      return mark === undefined ? [] : [[call, mark]];
    });
    const marked = late.flatMap(([call, mark]) => (mark === STARTED ? [call] : []));
    const children = new Map(late.filter(([, mark]) => mark !== STARTED));
    const doubts = new Map(
      answer.toolCalls.flatMap((_, call): [number, string][] => {
        const why = stored.get(doubtKey(step, call));
        return why === undefined ? [] : [[call, why]];
      }),
    );
    turns.push({
      answer,
      results,
      marked: new Set([...answer.marks, ...marked]),
      children,
      doubts,
      begun: new Map(),
    });
  }
}

/** The child runs that these stored calls wait for. */
export function openChildren(stored: ReadonlyMap<string, string>): string[] {
  const last = turnsOf(stored).at(-1);
  return last ? [...last.children].flatMap(([call, child]) => (last.results[call] ? [] : [child])) : [];
}

/** The messages of a request that continues after these turns, all of whose calls have results. */
export function messagesOf(first: readonly ModelMessage[], turns: readonly Turn[]): ModelMessage[] {
  return [...first, ...turns.flatMap(messagesOfTurn)];
}

function messagesOfTurn({ answer: { text, toolCalls, raw }, results }: Turn): ModelMessage[] {
  return [
    { role: 'assistant', text, toolCalls, ...(raw !== undefined && { raw }) },
    ...toolCalls.map(
      ({ id }, call): ModelMessage => ({
        role: 'tool',
        callId: id,
        text: results[call]?.text ?? '',
        isError: results[call]?.isError === true,
      }),
    ),
  ];
}

/**
 * Refuses a further request after too many answers in a row with a wrong call.
 * @throws StepError `InvalidToolCall`
 */
export function refuseWrongCalls(turns: readonly Turn[]): void {
  const last = turns.slice(-MOST_WRONG);
  const wrong = last.map(({ results }) => results.find((result) => result?.isWrong));
  const final = wrong.at(-1);
  if (last.length < MOST_WRONG || !final || wrong.includes(undefined)) return;
  throw new StepError(
    'InvalidToolCall',
    `the model called tools wrongly in ${MOST_WRONG} answers in a row, at last: ${final.text.slice(0, 500)}. ${progressOf(turns)}`,
  );
}

/** What an agent has done, in a sentence. */
export function progressOf(turns: readonly Turn[]): string {
  const counts = new Map<string, number>();
  for (const { answer, results } of turns)
    for (const [call, result] of results.entries())
      if (result && !result.isWrong) {
        const name = answer.toolCalls[call]?.name ?? '';
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
  const calls = [...counts].map(([name, count]) => `${name} ${count} times`);
  return `It called ${calls.join(', ') || 'no tool'}`;
}

/** Bytes that this many results may take. */
export function reservedBytes(results: number): number {
  return results * (RESULT_LIMIT_BYTES + RESULT_OVERHEAD_BYTES);
}

/**
 * Refuses an answer for which the transcript has no room, together with the results of its calls.
 * @throws StepError `TranscriptTooLarge`
 */
export function requireRoom(stored: ReadonlyMap<string, string>, answer: string, calls: number): void {
  let bytes = Buffer.byteLength(answer) + reservedBytes(calls);
  for (const value of stored.values()) bytes += Buffer.byteLength(value);
  if (bytes > TRANSCRIPT_LIMIT_BYTES) throw tooLarge(`${TRANSCRIPT_LIMIT_BYTES / 1024 / 1024} MiB`);
}

/** The error of an agent whose calls are larger than the limit. */
export function tooLarge(limit: string): StepError {
  return new StepError(
    'TranscriptTooLarge',
    `with the next tool calls the transcript could exceed ${limit}: let the tools return less, or lower maxSteps`,
  );
}

/** The result as it is stored, whose JSON fits into the limit. */
export function cutResult(text: string): string {
  if (storedBytes(text) <= RESULT_LIMIT_BYTES) return text;
  const note = `\n[cut: the result has ${Buffer.byteLength(text)} bytes]`;
  let length = RESULT_LIMIT_BYTES;
  while (storedBytes(text.slice(0, length) + note) > RESULT_LIMIT_BYTES) length = Math.floor(length * 0.9);
  return text.slice(0, length).toWellFormed() + note;
}

/** A text that is much too long is not measured. */
function storedBytes(text: string): number {
  return text.length > RESULT_LIMIT_BYTES ? Infinity : Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** The transcript as the record shows it. `final`: the answer without tool calls, if there is one. */
export function transcriptOf(
  first: readonly ModelMessage[],
  turns: readonly Turn[],
  final?: Pick<StoredAnswer, 'text' | 'startedAt' | 'endedAt' | 'usage'>,
): TranscriptEntry[] {
  return [
    ...first.map(
      (message): TranscriptEntry => ({
        role: message.role === 'system' ? 'System' : 'User',
        text: message.text + noteOfImages(message),
      }),
    ),
    ...turns.flatMap((turn) => [
      entryOfAnswer(turn.answer),
      ...turn.answer.toolCalls.map((call, index) => entryOfCall(call, turn, index)),
    ]),
    ...(final ? [entryOfAnswer(final)] : []),
  ];
}

/** Images are not part of a transcript. */
function noteOfImages(message: ModelMessage): string {
  const count = (message.role === 'user' ? message.images : undefined)?.length ?? 0;
  return count === 0 ? '' : `\n[${count} ${count === 1 ? 'image' : 'images'}]`;
}

function entryOfAnswer({
  text,
  startedAt,
  endedAt,
  usage,
}: Pick<StoredAnswer, 'text' | 'startedAt' | 'endedAt' | 'usage'>): TranscriptEntry {
  const shown = usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
  return { role: 'Assistant', text, startedAt, endedAt, ...(shown && { usage: shown }) };
}

function entryOfCall(
  call: ModelToolCall,
  { results, children, begun }: Turn,
  index: number,
): TranscriptEntry {
  const result = results[index];
  const child = children.get(index);
  const startedAt = result?.startedAt ?? begun.get(index);
  return {
    role: 'Tool',
    tool: call.name.slice(0, LONGEST_NAME).toWellFormed(),
    ...(child !== undefined && { run: child }),
    arguments: call.arguments,
    text: result?.text ?? '',
    ...(result?.isError && { isError: true }),
    ...(startedAt !== undefined && { startedAt }),
    ...(result && { endedAt: result.endedAt }),
  };
}
