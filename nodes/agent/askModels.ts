/**
 * Asks the models of an agent step within its budgets: the one that the step names, and those of `fallback`
 * in its place. Knows nothing of tools and checkpoints.
 */
import { credentialKind } from '../../api/credential.ts';
import { StepError, type FailureReason } from '../../api/reasons.ts';
import type { AgentStep } from '../../api/step.ts';
import type {
  ModelAnswer,
  ModelMessage,
  ModelPatience,
  ModelRequest,
  ModelTool,
  ModelToolCall,
} from '../contract/model.ts';
import { abortion, type StepContext } from '../contract/node.ts';
import { findProvider, titlesFor } from '../providers/register.ts';
import { optionsProblem } from './options.ts';
import { demandOf, limited, NOTHING_USED, usageOfFailure } from './reserve.ts';

/** The fields of a step that say which models are asked, and how. */
export type ModelFields = Pick<
  AgentStep,
  | 'credential'
  | 'model'
  | 'fallback'
  | 'temperature'
  | 'maxTokens'
  | 'reasoningEffort'
  | 'stop'
  | 'options'
  | 'outputSchema'
>;

/** A model and the credential through which it is asked. */
export type ModelChoice = { credential: string; model: string };

/** A model that was asked and failed before another one answered. */
export type FailedModel = ModelChoice & { reason: FailureReason; message: string };

export type ModelQuestion = {
  fields: ModelFields;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** The model that gave the first answer of the step: it gives all further ones. Left out: the first one. */
  chosen?: ModelChoice;
};

/** `refusedCalls`: the tool calls of an earlier answer, in a step without tools. */
export type ChosenAnswer = ModelAnswer & {
  chosen: ModelChoice;
  failed: readonly FailedModel[];
  refusedCalls?: readonly ModelToolCall[];
};

export type ModelsContext = Pick<
  StepContext,
  'credential' | 'egress' | 'signal' | 'effect' | 'effectKey' | 'emitText' | 'beginText' | 'budget'
> & {
  /** A request is sent when it resolves, and not if it rejects. */
  ready?: Promise<void>;
};

const PATIENCE: ModelPatience = { firstChunkMs: 30_000, idleMs: 20_000 };
/** Many models send nothing while they think. */
const PATIENCE_WITH_THINKING: ModelPatience = { firstChunkMs: 300_000, idleMs: 120_000 };

/** How long a model of the step may be silent. */
export function patienceFor({ reasoningEffort }: Pick<ModelFields, 'reasoningEffort'>): ModelPatience {
  return reasoningEffort ? PATIENCE_WITH_THINKING : PATIENCE;
}

/** Errors that another model may not have. */
const TEMPORARY: ReadonlySet<FailureReason> = new Set([
  'InvalidAnswer',
  'RateLimited',
  'Timeout',
  'Unreachable',
  'UpstreamError',
]);

/**
 * Asks the model of the step; after a temporary error each model of `fallback` once, in order.
 * @throws StepError that of the first model, which names the failures of the others, too
 */
export async function askModels(
  question: ModelQuestion,
  context: ModelsContext,
  patience: ModelPatience = patienceFor(question.fields),
): Promise<ChosenAnswer> {
  const { fields, chosen } = question;
  const { credential, model, fallback = [] } = fields;
  const choices = chosen ? [chosen] : [{ credential, model }, ...fallback];
  const errors: StepError[] = [];
  const failed: FailedModel[] = [];
  for (const [index, choice] of choices.entries()) {
    // A key stands for one body.
    const effectKey = index === 0 ? context.effectKey : `${context.effectKey}/fallback-${index}`;
    try {
      return {
        ...(await askChoice(choice, question, { ...context, effectKey }, patience)),
        chosen: choice,
        failed,
      };
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      errors.push(error);
      const { reason, message } = error;
      failed.push({ credential: choice.credential, model: choice.model, reason, message });
      if (context.signal.aborted || !error.retryable || !TEMPORARY.has(reason)) break;
    }
  }
  throw withOthers(errors, failed);
}

/** The error of the first model decides whether a retry of the step helps. */
function withOthers([first, ...others]: readonly StepError[], failed: readonly FailedModel[]): StepError {
  if (!first) throw new Error('no model was asked');
  const last = others.at(-1);
  // Its effect is in doubt, which the step must know.
  if (last?.reason === 'EffectUnknown') return last;
  if (!last) return first;
  const said = failed.slice(1).map(({ model, reason, message }) => `${model}: ${reason}: ${message}`);
  return new StepError(first.reason, `${first.message}; fallback ${said.join('; ')}`, {
    retryable: first.retryable,
    cause: first,
    ...(first.retryAfterMs !== undefined && { retryAfterMs: first.retryAfterMs }),
  });
}

async function askChoice(
  choice: ModelChoice,
  { fields, messages, tools }: ModelQuestion,
  context: ModelsContext,
  patience: ModelPatience,
): Promise<ModelAnswer> {
  const credential = await context.credential(choice.credential);
  const provider = findProvider(credential.spec, 'model');
  if (!provider) {
    throw new StepError(
      'InvalidParameters',
      `credential ${credential.name} is of kind ${credentialKind(credential.spec)}, but the step needs one of ${titlesFor('model')}`,
    );
  }
  const { temperature, maxTokens, reasoningEffort, stop, options, outputSchema } = fields;
  const problem = options && optionsProblem(options);
  if (problem !== undefined) throw new StepError('InvalidParameters', problem);
  const request: ModelRequest = {
    model: choice.model,
    messages,
    tools,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(reasoningEffort && { reasoningEffort }),
    ...(stop && { stop }),
    ...(options && { options }),
    ...(outputSchema && { outputSchema }),
  };
  const models = await provider.model();
  const { egress, signal, effect, effectKey, emitText, beginText } = context;
  return askWithin(context, credentialKind(credential.spec), request, (sent) => {
    beginText?.();
    return models.ask(sent, {
      credential,
      egress,
      signal,
      effect,
      idempotencyKey: effectKey,
      emitText,
      patience,
    });
  });
}

/** Asks within the budget: reserves what the request may use before it is sent, and settles it afterwards. */
async function askWithin(
  { budget, effectKey, signal, ready }: ModelsContext,
  provider: string,
  request: ModelRequest,
  ask: (request: ModelRequest) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  if (!budget) {
    await ready;
    return ask(request);
  }
  const reservation = await budget.reserve({
    effectKey,
    provider,
    model: request.model,
    ...demandOf(request),
  });
  try {
    await ready;
    if (signal.aborted) throw abortion(signal);
  } catch (error) {
    reservation.settle(NOTHING_USED);
    throw error;
  }
  try {
    const answer = await ask(reservation.isLimited ? limited(request) : request);
    return { ...answer, usage: reservation.settle(answer.usage) };
  } catch (error) {
    reservation.settle(signal.aborted ? null : usageOfFailure(error));
    throw error;
  }
}
