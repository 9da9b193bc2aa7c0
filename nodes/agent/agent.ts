/**
 * Agent node: asks a language model through the chat completions API of OpenAI-compatible servers, and
 * streams the answer. A model that stops sending ends with a timeout (reliability F28).
 */
import type OpenAI from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { StepError } from '../../api/reasons.ts';
import { abortion, partOf, type StepContext, type StepResult } from '../contract/node.ts';
import { addChunk, emptyDraft, finished, type Answer } from './answer.ts';
import { openClient } from '../providers/openai/client.ts';
import { adapted, requestOf, type AgentFields } from '../providers/openai/request.ts';
import { structuredAnswer } from './structured.ts';

/** How long a model may be silent, in milliseconds. The step's own timeout bounds the whole beside it. */
export type AgentPatience = { firstChunkMs: number; idleMs: number };

const PATIENCE: AgentPatience = { firstChunkMs: 30_000, idleMs: 20_000 };

const MOST_ADAPTATIONS = 3;

/**
 * Asks the model.
 * @throws StepError for every failure; the library does not retry, the runner does
 */
export async function executeAgent(
  fields: AgentFields,
  context: StepContext,
  patience: AgentPatience = PATIENCE,
): Promise<StepResult> {
  const credential = await context.credential(fields.credential);
  const part = partOf(credential, 'openai');
  const key = credential.secret(part.apiKeyRef);
  const { failureOf } = await import('../providers/openai/failure.ts');
  try {
    const client = await openClient(part, key.reveal(), context.egress);
    const answer = await ask(client, requestOf(fields), { context, patience });
    return resultOf(answer, fields);
  } catch (error) {
    throw context.signal.aborted
      ? failureOf(abortion(context.signal), { key, effect: context.effect })
      : failureOf(error, { key, effect: context.effect });
  }
}

type Asking = { context: StepContext; patience: AgentPatience };

/** Asks, and asks again without what the server says that it cannot take. */
async function ask(
  client: OpenAI,
  request: ChatCompletionCreateParamsStreaming,
  asking: Asking,
): Promise<Answer> {
  let current = request;
  for (let adaptations = 0; ; adaptations += 1) {
    try {
      return await stream(client, current, asking);
    } catch (error) {
      const next = adaptations < MOST_ADAPTATIONS ? adaptedTo(current, error) : undefined;
      if (!next) throw error;
      current = next;
    }
  }
}

function adaptedTo(
  request: ChatCompletionCreateParamsStreaming,
  error: unknown,
): ChatCompletionCreateParamsStreaming | undefined {
  const refused =
    error instanceof Error && 'status' in error && (error.status === 400 || error.status === 422);
  return refused ? adapted(request, error.message) : undefined;
}

async function stream(
  client: OpenAI,
  request: ChatCompletionCreateParamsStreaming,
  { context, patience }: Asking,
): Promise<Answer> {
  const silence = silenceWatch(patience.firstChunkMs);
  const signal = AbortSignal.any([context.signal, silence.signal]);
  const draft = emptyDraft();
  try {
    const options = { signal, headers: { 'Idempotency-Key': context.effectKey } };
    for await (const chunk of await client.chat.completions.create(request, options)) {
      silence.restart(patience.idleMs);
      const text = addChunk(draft, chunk);
      if (text !== '') context.emitText(text);
    }
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.stop();
  }
  // The library ends an aborted stream as if it were complete.
  if (silence.signal.aborted) throw silence.signal.reason;
  if (context.signal.aborted) throw abortion(context.signal);
  return finished(draft, request.model);
}

/** A signal that is aborted when nothing was heard for a time. */
function silenceWatch(firstMs: number): { signal: AbortSignal; restart(ms: number): void; stop(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const restart = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      controller.abort(new StepError('Timeout', `the model sent nothing for ${Math.round(ms / 1_000)} s`));
    }, ms);
  };
  restart(firstMs);
  return { signal: controller.signal, restart, stop: () => clearTimeout(timer) };
}

function resultOf(answer: Answer, { outputSchema }: AgentFields): StepResult {
  const { text, model, finishReason, usage } = answer;
  const json = outputSchema ? structuredAnswer(text, outputSchema) : null;
  return {
    output: {
      text_content: text,
      data_content: { model, finish_reason: finishReason, usage, tool_calls: [], json },
    },
    ...(usage && { usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens } }),
  };
}
