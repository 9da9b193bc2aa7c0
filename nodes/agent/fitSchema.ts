/** Answers that must fit `outputSchema`: an answer that does not fit is sent back to the model once. */
import { secretRefs } from '../../api/credential.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelMessage, ModelPatience } from '../contract/model.ts';
import type { CredentialAccess } from '../contract/node.ts';
import { echoesOf, quoted } from '../contract/secret.ts';
import { askModels, type ChosenAnswer, type ModelQuestion, type ModelsContext } from './askModels.ts';
import { structuredAnswer } from './structured.ts';
import { sumOfUsage } from './usage.ts';

/** An answer with the value that `outputSchema` asks for; null without a schema. */
export type StructuredAnswer = { answer: ChosenAnswer; json: unknown };

/**
 * The value of the answer. An answer that does not fit the schema is sent back to the model once, with the
 * problem; tokens of both answers count.
 * @throws StepError `InvalidAnswer` that quotes the second answer, where it does not fit either
 */
export async function fitSchema(
  question: ModelQuestion,
  answer: ChosenAnswer,
  context: ModelsContext,
  patience?: ModelPatience,
): Promise<StructuredAnswer> {
  const { outputSchema } = question.fields;
  if (!outputSchema) return { answer, json: null };
  const first = valueOf(answer, outputSchema);
  if (first.ok) return { answer, json: first.value };
  const { error } = first;
  if (error.reason !== 'InvalidAnswer' || answer.isCut) throw await withText(error, answer, context);
  const { text, toolCalls, raw, chosen } = answer;
  const messages: ModelMessage[] = [
    ...question.messages,
    { role: 'assistant', text, toolCalls, ...(raw !== undefined && { raw }) },
    { role: 'user', text: `${error.message}. Answer again, with JSON alone that fits the schema.` },
  ];
  const repaired = await askModels(
    { ...question, tools: [], messages, chosen },
    { ...context, effectKey: `${context.effectKey}/repair` },
    patience,
  );
  const second = valueOf(repaired, outputSchema);
  if (!second.ok) throw await withText(second.error, repaired, context);
  return {
    answer: {
      ...repaired,
      // It was offered no tools.
      toolCalls: [],
      failed: answer.failed,
      ...(answer.refusedCalls && { refusedCalls: answer.refusedCalls }),
      usage: sumOfUsage([answer.usage, repaired.usage]),
    },
    json: second.value,
  };
}

type Value = { ok: true; value: unknown } | { ok: false; error: StepError };

function valueOf({ text }: ModelAnswer, schema: Record<string, unknown>): Value {
  try {
    return { ok: true, value: structuredAnswer(text, schema) };
  } catch (error) {
    if (error instanceof StepError) return { ok: false, error };
    throw error;
  }
}

/** The error with the beginning of what the model answered, without the secrets of its credential. */
async function withText(
  error: StepError,
  { text, isCut, chosen }: ChosenAnswer,
  context: ModelsContext,
): Promise<StepError> {
  if (error.reason !== 'InvalidAnswer') return error;
  const masks = masksOf(await context.credential(chosen.credential));
  const came = quoted(text, masks);
  const remedy = isCut ? ' (the limit of tokens cut it: raise maxTokens)' : '';
  return new StepError(
    'InvalidAnswer',
    `${quoted(error.message, masks)}; the model answered${remedy}: ${came}`,
    {
      cause: error,
      ...(isCut && { retryable: false }),
    },
  );
}

function masksOf(credential: CredentialAccess): ReturnType<typeof echoesOf> {
  return secretRefs(credential.spec).flatMap((ref) => echoesOf(credential.secret(ref)));
}
