/**
 * Agent node: asks a language model through the provider of its credential, and calls the tools that the
 * model asks for. A durable program: it continues with the calls that are stored, so that after a crash only
 * those repeat that have no result.
 */
import { toText } from '../../api/expression/evaluate.ts';
import { amountText } from '../../api/money.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelMessage, ModelPatience } from '../contract/model.ts';
import type { ModelUsage } from '../contract/modelUsage.ts';
import type { AgentMemoryFields } from '../../api/step.ts';
import type { AgentCalls, StepContext, StepResult } from '../contract/node.ts';
import { executeCalls, planCalls } from './calls.ts';
import { explainRefusal, imagesOf } from './images.ts';
import {
  askModels,
  patienceFor,
  structure,
  sumOfUsage,
  type ModelFields,
  type ModelQuestion,
  type ModelsContext,
  type StructuredAnswer,
} from './models.ts';
import { MemoryInUse } from './memoryInUse.ts';
import { shownCalls } from './shownCalls.ts';
import type { AgentTools } from './tools.ts';
import {
  answerKey,
  messagesOf,
  progressOf,
  refuseWrongCalls,
  requireRoom,
  reservedBytes,
  resultKey,
  transcriptOf,
  turnsOf,
  type StoredAnswer,
  type Turn,
} from './transcript.ts';
import { requireNoCalls } from './withoutTools.ts';

/** The fields of an agent step with every reference replaced: prompts may be of any type. */
export type AgentFields = ModelFields & {
  systemPrompt?: unknown;
  prompt: unknown;
  images?: unknown;
  maxSteps?: number | undefined;
  maxParallel?: number | undefined;
  memory?: AgentMemoryFields | undefined;
};

const DEFAULT_STEPS = 10;
const DEFAULT_PARALLEL = 4;

/**
 * Asks the model, and calls its tools until it answers without a tool call.
 * @throws StepError for every failure; `EffectUnknown` if a call whose effect must not be repeated is in
 * doubt
 */
export async function executeAgent(
  fields: AgentFields,
  context: StepContext,
  tools: AgentTools = { tools: [], fixed: [] },
  patience: ModelPatience = patienceFor(fields),
): Promise<StepResult> {
  const first = firstMessages(fields);
  const { calls } = context;
  const memory = new MemoryInUse(context.memory, fields);
  if (tools.tools.length === 0 || !calls) {
    const asked = await memory.ask({ messages: first, tools: [] }, (messages, suffix) =>
      ask({ fields, messages, tools: [] }, { ...context, effectKey: context.effectKey + suffix }, patience),
    );
    memory.note([], asked.answer.text);
    return resultOf(asked, [], fields);
  }
  return new Conversation({ fields, tools, first, patience, calls, memory, now: Date.now }).continue();
}

type Started = {
  fields: AgentFields;
  tools: AgentTools;
  first: readonly ModelMessage[];
  patience: ModelPatience;
  calls: AgentCalls;
  memory: MemoryInUse;
  now: () => number;
};

/** A conversation with tools. */
class Conversation {
  readonly #started: Started;
  readonly #stored: Map<string, string>;
  readonly #turns: Turn[];
  /** The last results are being stored: the model must not see them before. */
  #storing: Promise<void> = Promise.resolve();

  constructor(started: Started) {
    this.#started = started;
    this.#stored = new Map(started.calls.stored);
    this.#turns = turnsOf(this.#stored);
  }

  async continue(): Promise<StepResult> {
    try {
      return await this.#converse();
    } finally {
      // The end of the agent removes its calls.
      await this.#storing.catch(() => undefined);
    }
  }

  async #converse(): Promise<StepResult> {
    const { fields, calls, first, memory, now } = this.#started;
    const { maxSteps = DEFAULT_STEPS } = fields;
    this.#report();
    const last = this.#turns.at(-1);
    memory.continueWith(last?.answer.memoryTurns);
    // Another delivery began these calls.
    if (last) await this.#executeCalls(last, new Set(last.marked));
    for (;;) {
      refuseWrongCalls(this.#turns);
      const step = this.#turns.length + 1;
      const startedAt = now();
      const asked = await this.#ask(step);
      const { text, toolCalls, model, usage, raw, chosen, failed } = asked.answer;
      const times = { attempt: calls.attempt, startedAt, endedAt: now() };
      if (toolCalls.length === 0) {
        calls.report(transcriptOf(first, this.#turns, { text, usage, ...times }));
        memory.note(this.#turns, text);
        return resultOf(asked, this.#turns, fields);
      }
      if (step >= maxSteps) throw stepLimit(this.#turns, toolCalls, maxSteps);
      const own = {
        text,
        toolCalls,
        model,
        usage,
        ...(raw !== undefined && { raw }),
        chosen,
        failed,
        memoryTurns: memory.turns,
        ...times,
      };
      await this.#executeCalls(await this.#storeAnswer(step, own), new Set());
    }
  }

  /** The model that gave the first answer gives all further ones. */
  #ask(step: number): Promise<StructuredAnswer> {
    const { fields, tools, first, patience, calls, memory } = this.#started;
    const { chosen } = this.#turns[0]?.answer ?? {};
    const offered = tools.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    const own = { messages: messagesOf(first, this.#turns), tools: offered };
    const effectKey = `${calls.effectKeyOf(calls.attempt)}/${answerKey(step)}`;
    const position = transcriptOf(first, this.#turns).length;
    return memory.ask(own, (messages, suffix) => {
      const question = { fields, messages, tools: offered, ...(chosen && { chosen }) };
      const call = { effect: 'AtLeastOnce', effectKey: effectKey + suffix } as const;
      return calls.perform(call, (context) =>
        ask(
          question,
          { ...context, beginText: () => context.beginText?.(position), ready: this.#storing },
          patience,
        ),
      );
    });
  }

  /** Stores the answer with the start marks of its tools, and with the results of wrong calls. */
  async #storeAnswer(step: number, answer: Omit<StoredAnswer, 'marks'>): Promise<Turn> {
    const { fields, tools, now } = this.#started;
    const { results, marks, right } = planCalls(answer.toolCalls, tools, {
      maxParallel: fields.maxParallel ?? DEFAULT_PARALLEL,
      now: now(),
    });
    const stored = { ...answer, toolCalls: answer.toolCalls.map(readable), marks } satisfies StoredAnswer;
    const entries = new Map([[answerKey(step), JSON.stringify(stored)]]);
    for (const [call, result] of results.entries())
      if (result) entries.set(resultKey(step, call), JSON.stringify(result));
    requireRoom(this.#stored, [...entries.values()].join(''), right);
    const turn: Turn = {
      answer: stored,
      results,
      marked: new Set(marks),
      children: new Map(),
      doubts: new Map(),
      begun: new Map(),
    };
    this.#turns.push(turn);
    this.#report();
    await this.#store(entries, reservedBytes(right));
    return turn;
  }

  /** `died`: the calls that began before this delivery. */
  async #executeCalls(turn: Turn, died: ReadonlySet<number>): Promise<void> {
    const { fields, tools, calls, now } = this.#started;
    const step = this.#turns.indexOf(turn) + 1;
    await executeCalls(turn, {
      step,
      tools,
      died,
      maxParallel: fields.maxParallel ?? DEFAULT_PARALLEL,
      effectKey: `${calls.effectKeyOf(turn.answer.attempt)}/${answerKey(step)}`,
      calls,
      store: async (entries) => {
        const open = turn.results.filter((result) => result === undefined).length;
        this.#report();
        const stored = this.#store(entries, reservedBytes(open));
        // The next request is prepared meanwhile. The end of a child run counts as read only afterwards.
        if (open > 0 || turn.children.size > 0) return stored;
        this.#storing = stored;
        stored.catch(() => undefined);
      },
      report: () => this.#report(),
      now,
    });
  }

  async #store(entries: ReadonlyMap<string, string>, reserved: number): Promise<void> {
    await this.#started.calls.store(entries, reserved);
    for (const [key, value] of entries) this.#stored.set(key, value);
  }

  #report(): void {
    const { calls, first, memory } = this.#started;
    calls.report(transcriptOf(first, this.#turns));
    memory.note(this.#turns);
  }
}

/** Arguments that are too long are not stored: the model is told about them. */
function readable(call: ModelAnswer['toolCalls'][number]): ModelAnswer['toolCalls'][number] {
  return { ...call, arguments: Buffer.byteLength(call.arguments) > 32 * 1024 ? '{}' : call.arguments };
}

function stepLimit(turns: readonly Turn[], calls: ModelAnswer['toolCalls'], maxSteps: number): StepError {
  const names = [...new Set(calls.map(({ name }) => name))].join(', ').slice(0, 200);
  return new StepError(
    'StepLimit',
    `answer ${maxSteps} of the model, the last one that maxSteps allows, still calls tools (${names}). ${progressOf(turns)}. Raise maxSteps, or ask for less at once`,
  );
}

/** An answer without a tool call must have text, and fit the schema. A step without tools needs one. */
async function ask(
  question: ModelQuestion,
  context: StepContext & Pick<ModelsContext, 'ready'>,
  patience: ModelPatience,
): Promise<StructuredAnswer> {
  const asked = await askModels(question, context, patience).catch((error: unknown) => {
    throw explainRefusal(error, question.messages);
  });
  const hasTools = question.tools.length > 0;
  if (hasTools && asked.toolCalls.length > 0) return { answer: asked, json: null };
  const answer = hasTools ? asked : await requireNoCalls(question, asked, context, patience);
  if (answer.text !== '') return structure(question, answer, context, patience);
  if (!answer.isCut) throw new StepError('InvalidAnswer', 'the model sent an empty message');
  const message = 'the model reached its limit of tokens before it wrote text: raise maxTokens';
  throw new StepError('InvalidAnswer', message, { retryable: false });
}

function firstMessages({ systemPrompt, prompt, images: given }: AgentFields): ModelMessage[] {
  const system = systemPrompt === undefined ? [] : [{ role: 'system' as const, text: toText(systemPrompt) }];
  const images = imagesOf(given);
  return [...system, { role: 'user', text: toText(prompt), ...(images.length > 0 && { images }) }];
}

function resultOf(
  { answer, json }: StructuredAnswer,
  turns: readonly Turn[],
  { fallback }: AgentFields,
): StepResult {
  const { text, model, finishReason } = answer;
  const failed = turns[0]?.answer.failed ?? answer.failed;
  const usage = sumOfUsage([...turns.map((turn) => turn.answer.usage), answer.usage]);
  const shown = usage && {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
  return {
    output: {
      text_content: text,
      data_content: {
        model,
        finish_reason: finishReason,
        usage: shown,
        tool_calls: shownCalls(turns, answer.refusedCalls),
        json,
        ...(fallback && { failed_models: failed }),
      },
    },
    ...(usage && { usage: stepUsage(usage) }),
  };
}

/** The usage of the node, with its cost as a text. */
export function stepUsage({ inputTokens, outputTokens, cost }: ModelUsage): NonNullable<StepResult['usage']> {
  return {
    inputTokens,
    outputTokens,
    ...(cost && { cost: amountText(cost.nano), currency: cost.currency }),
  };
}
