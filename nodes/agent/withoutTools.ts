/**
 * Steps without tools whose model calls a tool all the same, as small models do, and models that obey an
 * instruction in a text that they read.
 */
import { StepError } from '../../api/reasons.ts';
import type { ModelMessage, ModelPatience } from '../contract/model.ts';
import { askModels, type ChosenAnswer, type ModelQuestion, type ModelsContext } from './askModels.ts';
import { sumOfUsage } from './usage.ts';

const NAMES_SHOWN = 5;
const LONGEST_NAME = 64;

/**
 * The answer itself if it calls no tool. Otherwise the model is told once that there is no such tool, and the
 * next answer counts; tokens of both count.
 * @throws StepError `InvalidToolCall` if that answer calls a tool, too
 */
export async function requireNoCalls(
  question: ModelQuestion,
  answer: ChosenAnswer,
  context: ModelsContext,
  patience: ModelPatience,
): Promise<ChosenAnswer> {
  if (answer.toolCalls.length === 0) return answer;
  const names = namesOf(answer);
  const messages: ModelMessage[] = [
    ...question.messages,
    // Not the calls themselves: providers refuse calls without results.
    { role: 'assistant', text: answer.text || `I call ${names}.`, toolCalls: [] },
    { role: 'user', text: `There is no tool ${names}: you have no tools. Answer without a tool call.` },
  ];
  const next = await askModels(
    { ...question, messages, chosen: answer.chosen },
    { ...context, effectKey: `${context.effectKey}/without-tools` },
    patience,
  );
  if (next.toolCalls.length > 0) {
    const message = `the model called ${names}, was told that this step has no tools, and called ${namesOf(next)}`;
    throw new StepError('InvalidToolCall', `${message}: change the prompt, or give the step tools`);
  }
  const usage = sumOfUsage([answer.usage, next.usage]);
  return { ...next, failed: answer.failed, refusedCalls: answer.toolCalls, usage };
}

function namesOf({ toolCalls }: ChosenAnswer): string {
  const names = [...new Set(toolCalls.map(({ name }) => name.slice(0, LONGEST_NAME).toWellFormed()))];
  return names.slice(0, NAMES_SHOWN).join(', ');
}
