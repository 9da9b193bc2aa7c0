/** One request of an agent to its models, with the checks of the answer. */
import { StepError } from '../../api/reasons.ts';
import type { ModelPatience } from '../contract/model.ts';
import type { StepContext } from '../contract/node.ts';
import { askModels, type ModelQuestion, type ModelsContext } from './askModels.ts';
import { fitSchema, type StructuredAnswer } from './fitSchema.ts';
import { explainRefusal } from './images.ts';
import { requireNoCalls } from './withoutTools.ts';

/**
 * Asks the models, and checks the answer: one without a tool call must have text and fit the schema. A step
 * without tools needs such an answer.
 */
export async function askAndCheck(
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
  if (answer.text !== '') return fitSchema(question, answer, context, patience);
  if (!answer.isCut) throw new StepError('InvalidAnswer', 'the model sent an empty message');
  const message = 'the model reached its limit of tokens before it wrote text: raise maxTokens';
  throw new StepError('InvalidAnswer', message, { retryable: false });
}
