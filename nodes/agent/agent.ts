/** Agent node: asks a language model through the provider of its credential, and streams the answer. */
import { toText } from '../../api/expression/evaluate.ts';
import type { ModelMessage, ModelPatience } from '../contract/model.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { askModels, patienceFor, structure, type ModelFields, type StructuredAnswer } from './models.ts';

/** The fields of an agent step with every reference replaced: prompts may be of any type. */
export type AgentFields = ModelFields & { systemPrompt?: unknown; prompt: unknown };

/**
 * Asks the model.
 * @throws StepError for every failure
 */
export async function executeAgent(
  fields: AgentFields,
  context: StepContext,
  patience: ModelPatience = patienceFor(fields),
): Promise<StepResult> {
  const question = { fields, messages: messagesOf(fields), tools: [] };
  const answer = await askModels(question, context, patience);
  return resultOf(await structure(question, answer, context, patience), fields);
}

function messagesOf({ systemPrompt, prompt }: AgentFields): ModelMessage[] {
  const system = systemPrompt === undefined ? [] : [{ role: 'system' as const, text: toText(systemPrompt) }];
  return [...system, { role: 'user', text: toText(prompt) }];
}

function resultOf({ answer, json }: StructuredAnswer, { fallback }: AgentFields): StepResult {
  const { text, model, finishReason, usage, failed } = answer;
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
        tool_calls: [],
        json,
        ...(fallback && { failed_models: failed }),
      },
    },
    ...(usage && { usage }),
  };
}
