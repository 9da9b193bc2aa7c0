/** Agent node: asks a language model through the provider of its credential, and streams the answer. */
import { toText } from '../../api/expression/evaluate.ts';
import { credentialKind } from '../../api/credential.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelMessage, ModelPatience } from '../contract/model.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { findProvider, titlesFor } from '../providers/register.ts';
import { structuredAnswer } from './structured.ts';

/** The fields of an agent step with every reference replaced: prompts may be of any type. */
export type AgentFields = {
  credential: string;
  model: string;
  systemPrompt?: unknown;
  prompt: unknown;
  temperature?: number;
  maxTokens?: number;
  outputSchema?: Record<string, unknown>;
};

const PATIENCE: ModelPatience = { firstChunkMs: 30_000, idleMs: 20_000 };

/**
 * Asks the model.
 * @throws StepError for every failure
 */
export async function executeAgent(
  fields: AgentFields,
  context: StepContext,
  patience: ModelPatience = PATIENCE,
): Promise<StepResult> {
  const { egress, signal, effect, effectKey: idempotencyKey } = context;
  const credential = await context.credential(fields.credential);
  const provider = findProvider(credential.spec, 'model');
  if (!provider) {
    throw new StepError(
      'InvalidParameters',
      `credential ${credential.name} is of kind ${credentialKind(credential.spec)}, but the step needs one of ${titlesFor('model')}`,
    );
  }
  const { model, temperature, maxTokens, outputSchema } = fields;
  const request = {
    model,
    messages: messagesOf(fields),
    tools: [],
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(outputSchema && { outputSchema }),
  };
  const answer = await (await provider.model()).ask(request, {
    credential,
    egress,
    signal,
    effect,
    idempotencyKey,
    emitText: (text) => context.emitText(text),
    patience,
  });
  return resultOf(answer, fields);
}

function messagesOf({ systemPrompt, prompt }: AgentFields): ModelMessage[] {
  const system = systemPrompt === undefined ? [] : [{ role: 'system' as const, text: toText(systemPrompt) }];
  return [...system, { role: 'user', text: toText(prompt) }];
}

function resultOf(answer: ModelAnswer, { outputSchema }: AgentFields): StepResult {
  const { text, model, finishReason, usage } = answer;
  const json = outputSchema ? structuredAnswer(text, outputSchema) : null;
  const shown = usage && {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
  return {
    output: {
      text_content: text,
      data_content: { model, finish_reason: finishReason, usage: shown, tool_calls: [], json },
    },
    ...(usage && { usage }),
  };
}
