/**
 * The conversation of an agent with tools: asks the model and calls the tools that it asks for, round after
 * round. A durable program: it continues with the calls that are stored, so that after a crash only those
 * repeat that have no result.
 */
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelMessage, ModelPatience } from '../contract/model.ts';
import type { AgentCalls } from '../contract/node.ts';
import { askAndCheck } from './askAndCheck.ts';
import type { ModelFields } from './askModels.ts';
import { executeCalls, planCalls } from './calls.ts';
import type { StructuredAnswer } from './fitSchema.ts';
import type { MemoryInUse } from './memoryInUse.ts';
import {
  answerKey,
  messagesOf,
  progressOf,
  refuseWrongCalls,
  resultKey,
  roundsOf,
  type Round,
  type StoredAnswer,
} from './rounds.ts';
import type { AgentTools } from './tools.ts';
import { transcriptOf } from './transcript.ts';
import { requireRoom, reservedBytes } from './transcriptLimits.ts';

export type ConversationFields = ModelFields & {
  maxSteps?: number | undefined;
  maxParallel?: number | undefined;
};

const DEFAULT_STEPS = 10;
const DEFAULT_PARALLEL = 4;

/** What a conversation begins with. `first`: the messages before the first answer. */
type Setup = {
  fields: ConversationFields;
  tools: AgentTools;
  first: readonly ModelMessage[];
  patience: ModelPatience;
  calls: AgentCalls;
  memory: MemoryInUse;
  now: () => number;
};

/** The last answer, which calls no tool, and the rounds before it. */
type Conversed = { last: StructuredAnswer; rounds: readonly Round[] };

/** The conversation of an agent with tools: rounds, until an answer calls no tool. */
export class Conversation {
  readonly #setup: Setup;
  readonly #stored: Map<string, string>;
  readonly #rounds: Round[];
  /** The last results are being stored: the model must not see them before. */
  #storing: Promise<void> = Promise.resolve();

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#stored = new Map(setup.calls.stored);
    this.#rounds = roundsOf(this.#stored);
  }

  async continue(): Promise<Conversed> {
    try {
      return await this.#converse();
    } finally {
      // The end of the agent removes its calls.
      await this.#storing.catch(() => undefined);
    }
  }

  async #converse(): Promise<Conversed> {
    const { fields, calls, first, memory, now } = this.#setup;
    const { maxSteps = DEFAULT_STEPS } = fields;
    this.#report();
    const last = this.#rounds.at(-1);
    memory.continueWith(last?.answer.memoryTurns);
    // An earlier runner began these calls.
    if (last) await this.#executeCalls(last, new Set(last.marked));
    for (;;) {
      refuseWrongCalls(this.#rounds);
      const step = this.#rounds.length + 1;
      const startedAt = now();
      const asked = await this.#ask(step);
      const { text, toolCalls, model, usage, raw, chosen, failed } = asked.answer;
      const times = { attempt: calls.attempt, startedAt, endedAt: now() };
      if (toolCalls.length === 0) {
        const final = { text, usage, ...times };
        calls.report(transcriptOf(first, this.#rounds, { final, memoryTurns: memory.turnCount }));
        memory.note(this.#rounds, text);
        return { last: asked, rounds: this.#rounds };
      }
      if (step >= maxSteps) throw stepLimit(this.#rounds, toolCalls, maxSteps);
      const answer = {
        text,
        toolCalls,
        model,
        usage,
        ...(raw !== undefined && { raw }),
        chosen,
        failed,
        memoryTurns: memory.turnCount,
        ...times,
      };
      await this.#executeCalls(await this.#storeAnswer(step, answer), new Set());
    }
  }

  /** The model that gave the first answer gives all further ones. */
  #ask(step: number): Promise<StructuredAnswer> {
    const { fields, tools, first, patience, calls, memory } = this.#setup;
    const { chosen } = this.#rounds[0]?.answer ?? {};
    const offered = tools.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    const request = { messages: messagesOf(first, this.#rounds), tools: offered };
    const effectKey = `${calls.effectKeyOf(calls.attempt)}/${answerKey(step)}`;
    const position = transcriptOf(first, this.#rounds).length;
    return memory.ask(request, (messages, suffix) => {
      const question = { fields, messages, tools: offered, ...(chosen && { chosen }) };
      const call = { effect: 'AtLeastOnce', effectKey: effectKey + suffix } as const;
      return calls.perform(call, (context) =>
        askAndCheck(
          question,
          { ...context, beginText: () => context.beginText?.(position), ready: this.#storing },
          patience,
        ),
      );
    });
  }

  /** Stores the answer with the start marks of its tools, and with the results of wrong calls. */
  async #storeAnswer(step: number, answer: Omit<StoredAnswer, 'marks'>): Promise<Round> {
    const { fields, tools, now } = this.#setup;
    const { results, marks, right } = planCalls(answer.toolCalls, tools, {
      maxParallel: fields.maxParallel ?? DEFAULT_PARALLEL,
      now: now(),
    });
    const stored = {
      ...answer,
      toolCalls: answer.toolCalls.map(withoutLongArguments),
      marks,
    } satisfies StoredAnswer;
    const entries = new Map([[answerKey(step), JSON.stringify(stored)]]);
    for (const [call, result] of results.entries())
      if (result) entries.set(resultKey(step, call), JSON.stringify(result));
    requireRoom(this.#stored, [...entries.values()].join(''), right);
    const round: Round = {
      answer: stored,
      results,
      marked: new Set(marks),
      children: new Map(),
      doubts: new Map(),
      begun: new Map(),
    };
    this.#rounds.push(round);
    this.#report();
    await this.#store(entries, reservedBytes(right));
    return round;
  }

  /** `died`: the calls that had begun when an earlier runner died. */
  async #executeCalls(round: Round, died: ReadonlySet<number>): Promise<void> {
    const { fields, tools, calls, now } = this.#setup;
    const step = this.#rounds.indexOf(round) + 1;
    await executeCalls(round, {
      step,
      tools,
      died,
      maxParallel: fields.maxParallel ?? DEFAULT_PARALLEL,
      effectKey: `${calls.effectKeyOf(round.answer.attempt)}/${answerKey(step)}`,
      calls,
      store: async (entries) => {
        const open = round.results.filter((result) => result === undefined).length;
        this.#report();
        const stored = this.#store(entries, reservedBytes(open));
        // The next request is prepared meanwhile. The end of a child run counts as read only afterwards.
        if (open > 0 || round.children.size > 0) return stored;
        this.#storing = stored;
        stored.catch(() => undefined);
      },
      report: () => this.#report(),
      now,
    });
  }

  async #store(entries: ReadonlyMap<string, string>, reserved: number): Promise<void> {
    await this.#setup.calls.store(entries, reserved);
    for (const [key, value] of entries) this.#stored.set(key, value);
  }

  #report(): void {
    const { calls, first, memory } = this.#setup;
    calls.report(transcriptOf(first, this.#rounds, { memoryTurns: memory.turnCount }));
    memory.note(this.#rounds);
  }
}

/** Arguments that are too long are not stored: the model is told about them. */
function withoutLongArguments(call: ModelAnswer['toolCalls'][number]): ModelAnswer['toolCalls'][number] {
  return { ...call, arguments: Buffer.byteLength(call.arguments) > 32 * 1024 ? '{}' : call.arguments };
}

function stepLimit(rounds: readonly Round[], calls: ModelAnswer['toolCalls'], maxSteps: number): StepError {
  const names = [...new Set(calls.map(({ name }) => name))].join(', ').slice(0, 200);
  return new StepError(
    'StepLimit',
    `the model still calls tools (${names}) in answer ${maxSteps}, the last one that maxSteps allows. ${progressOf(rounds)}. Raise maxSteps, or ask for less at once`,
  );
}
