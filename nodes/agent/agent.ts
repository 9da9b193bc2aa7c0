/**
 * Agent node: asks a language model through the provider of its credential, and calls the tools that the model
 * asks for. A durable program: it continues with the calls that are stored, so that after a crash only those
 * repeat that have no result.
 */
import { credentialKind } from '../../api/credential.ts';
import { toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelMessage, ModelPatience, ModelProvider } from '../contract/model.ts';
import type { AgentCalls, StepContext, StepResult } from '../contract/node.ts';
import { findProvider, titlesFor } from '../providers/register.ts';
import { executeCalls, planCalls } from './calls.ts';
import { structuredAnswer } from './structured.ts';
import type { AgentTools, Tool } from './tools.ts';
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

/** The fields of an agent step with every reference replaced: prompts may be of any type. */
export type AgentFields = {
  credential: string;
  model: string;
  systemPrompt?: unknown;
  prompt: unknown;
  temperature?: number;
  maxTokens?: number;
  outputSchema?: Record<string, unknown>;
  maxSteps?: number;
  maxParallel?: number;
};

const PATIENCE: ModelPatience = { firstChunkMs: 30_000, idleMs: 20_000 };
const DEFAULT_STEPS = 10;
const DEFAULT_PARALLEL = 4;
/** Bytes of the arguments of all calls in the output. */
const ARGUMENTS_SHOWN_BYTES = 64 * 1024;

/**
 * Asks the model, and calls its tools until it answers without a tool call.
 * @throws StepError for every failure; `EffectUnknown` if a call whose effect must not be repeated is in doubt
 */
export async function executeAgent(
  fields: AgentFields,
  context: StepContext,
  tools: AgentTools = { tools: [], fixed: [] },
  patience: ModelPatience = PATIENCE,
): Promise<StepResult> {
  const first = firstMessages(fields);
  const { calls } = context;
  if (tools.tools.length === 0 || !calls) {
    const answer = await ask({ fields, messages: first, tools: [] }, context, patience);
    return resultOf(answer, [], fields);
  }
  return new Conversation({ fields, tools, first, patience, calls, now: Date.now }).continue();
}

type Started = {
  fields: AgentFields;
  tools: AgentTools;
  first: readonly ModelMessage[];
  patience: ModelPatience;
  calls: AgentCalls;
  now: () => number;
};

/** A conversation with tools. */
class Conversation {
  readonly #started: Started;
  readonly #stored: Map<string, string>;
  readonly #turns: Turn[];

  constructor(started: Started) {
    this.#started = started;
    this.#stored = new Map(started.calls.stored);
    this.#turns = turnsOf(this.#stored);
  }

  async continue(): Promise<StepResult> {
    const { fields, calls, first, now } = this.#started;
    const { maxSteps = DEFAULT_STEPS } = fields;
    this.#report();
    const last = this.#turns.at(-1);
    // Another delivery began these calls.
    if (last) await this.#executeCalls(last, new Set(last.marked));
    for (;;) {
      refuseWrongCalls(this.#turns);
      const step = this.#turns.length + 1;
      const startedAt = now();
      const answer = await this.#ask(step);
      const { text, toolCalls, model, usage, raw } = answer;
      const times = { attempt: calls.attempt, startedAt, endedAt: now() };
      if (toolCalls.length === 0) {
        calls.report(transcriptOf(first, this.#turns, { text, usage, ...times }));
        return resultOf(answer, this.#turns, fields);
      }
      if (step >= maxSteps) throw stepLimit(this.#turns, toolCalls, maxSteps);
      const own = { text, toolCalls, model, usage, ...(raw !== undefined && { raw }), ...times };
      await this.#executeCalls(await this.#storeAnswer(step, own), new Set());
    }
  }

  #ask(step: number): Promise<ModelAnswer> {
    const { fields, tools, first, patience, calls } = this.#started;
    const messages = messagesOf(first, this.#turns);
    const effectKey = `${calls.effectKeyOf(calls.attempt)}/${answerKey(step)}`;
    return calls.perform({ effect: 'AtLeastOnce', effectKey }, (context) =>
      ask({ fields, messages, tools: tools.tools }, context, patience),
    );
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
    await this.#store(entries, reservedBytes(right));
    const turn: Turn = { answer: stored, results, marked: new Set(marks) };
    this.#turns.push(turn);
    this.#report();
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
        await this.#store(entries, reservedBytes(open));
        this.#report();
      },
      now,
    });
  }

  async #store(entries: ReadonlyMap<string, string>, reserved: number): Promise<void> {
    await this.#started.calls.store(entries, reserved);
    for (const [key, value] of entries) this.#stored.set(key, value);
  }

  #report(): void {
    const { calls, first } = this.#started;
    calls.report(transcriptOf(first, this.#turns));
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

type Asked = { fields: AgentFields; messages: readonly ModelMessage[]; tools: readonly Tool[] };

async function ask(
  { fields, messages, tools }: Asked,
  context: StepContext,
  patience: ModelPatience,
): Promise<ModelAnswer> {
  const { egress, signal, effect, effectKey: idempotencyKey } = context;
  const credential = await context.credential(fields.credential);
  const { model, temperature, maxTokens, outputSchema } = fields;
  const request = {
    model,
    messages,
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(outputSchema && { outputSchema }),
  };
  const answer = await (await providerOf(credential)).ask(request, {
    credential,
    egress,
    signal,
    effect,
    idempotencyKey,
    emitText: (text) => context.emitText(text),
    patience,
  });
  if (answer.text !== '' || answer.toolCalls.length > 0) return answer;
  if (!answer.isCut) throw new StepError('InvalidAnswer', 'the model sent an empty message');
  const message = 'the model reached its limit of tokens before it wrote text: raise maxTokens';
  throw new StepError('InvalidAnswer', message, { retryable: false });
}

function providerOf({ name, spec }: Awaited<ReturnType<StepContext['credential']>>): Promise<ModelProvider> {
  const provider = findProvider(spec, 'model');
  if (provider) return provider.model();
  throw new StepError(
    'InvalidParameters',
    `credential ${name} is of kind ${credentialKind(spec)}, but the step needs one of ${titlesFor('model')}`,
  );
}

function firstMessages({ systemPrompt, prompt }: AgentFields): ModelMessage[] {
  const system = systemPrompt === undefined ? [] : [{ role: 'system' as const, text: toText(systemPrompt) }];
  return [...system, { role: 'user', text: toText(prompt) }];
}

function resultOf(answer: ModelAnswer, turns: readonly Turn[], { outputSchema }: AgentFields): StepResult {
  const { text, model, finishReason } = answer;
  const json = outputSchema ? structuredAnswer(text, outputSchema) : null;
  const usage = sumOf([...turns.map((turn) => turn.answer.usage), answer.usage]);
  const shown = usage && {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
  return {
    output: {
      text_content: text,
      data_content: { model, finish_reason: finishReason, usage: shown, tool_calls: shownCalls(turns), json },
    },
    ...(usage && { usage }),
  };
}

/** The tokens of all answers; null if a provider counted none. */
function sumOf(usages: readonly ModelAnswer['usage'][]): ModelAnswer['usage'] {
  const known = usages.filter((usage) => usage !== null);
  if (known.length === 0) return null;
  return {
    inputTokens: known.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: known.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

/** The tool calls for the output. Where all arguments are too large, they are left out. */
function shownCalls(turns: readonly Turn[]): { name: string; arguments: string | null; error: boolean }[] {
  const all = turns.flatMap(({ answer, results }) =>
    answer.toolCalls.map((call, index) => ({
      name: call.name,
      arguments: call.arguments,
      error: results[index]?.isError === true,
    })),
  );
  const bytes = all.reduce((sum, call) => sum + Buffer.byteLength(call.arguments), 0);
  return bytes <= ARGUMENTS_SHOWN_BYTES ? all : all.map((call) => ({ ...call, arguments: null }));
}
