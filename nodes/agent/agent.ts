/** Agent node: asks a language model through the provider of its credential, with or without tools. */
import { toText } from '../../api/expression/evaluate.ts';
import type { AgentMemoryFields } from '../../api/step.ts';
import type { ModelMessage, ModelPatience } from '../contract/model.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { askAndCheck } from './askAndCheck.ts';
import { patienceFor } from './askModels.ts';
import { Conversation, type ConversationFields } from './conversation.ts';
import type { StructuredAnswer } from './fitSchema.ts';
import { imagesOf } from './images.ts';
import { MemoryInUse } from './memoryInUse.ts';
import type { Round } from './rounds.ts';
import { shownCalls } from './shownCalls.ts';
import type { AgentTools } from './tools.ts';
import { stepUsage, sumOfUsage } from './usage.ts';

/** The fields of an agent step with every reference replaced: prompts may be of any type. */
export type AgentFields = ConversationFields & {
  systemPrompt?: unknown;
  prompt: unknown;
  images?: unknown;
  memory?: AgentMemoryFields | undefined;
};

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
      askAndCheck(
        { fields, messages, tools: [] },
        { ...context, effectKey: context.effectKey + suffix },
        patience,
      ),
    );
    memory.note([], asked.answer.text);
    return resultOf(asked, [], fields);
  }
  const setup = { fields, tools, first, patience, calls, memory, now: Date.now };
  const { last, rounds } = await new Conversation(setup).continue();
  return resultOf(last, rounds, fields);
}

function firstMessages({ systemPrompt, prompt, images: given }: AgentFields): ModelMessage[] {
  const system = systemPrompt === undefined ? [] : [{ role: 'system' as const, text: toText(systemPrompt) }];
  const images = imagesOf(given);
  return [...system, { role: 'user', text: toText(prompt), ...(images.length > 0 && { images }) }];
}

function resultOf(
  { answer, json }: StructuredAnswer,
  rounds: readonly Round[],
  { fallback }: AgentFields,
): StepResult {
  const { text, model, finishReason } = answer;
  const failed = rounds[0]?.answer.failed ?? answer.failed;
  const usage = sumOfUsage([...rounds.map((round) => round.answer.usage), answer.usage]);
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
        tool_calls: shownCalls(rounds, answer.refusedCalls),
        json,
        ...(fallback && { failed_models: failed }),
      },
    },
    ...(usage && { usage: stepUsage(usage) }),
  };
}
