/**
 * Asks a model through the client library of a provider, and reads the streamed answer. A model that stops
 * sending ends with a timeout (reliability F28).
 */
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelContext } from '../contract/model.ts';
import { abortion } from '../contract/node.ts';
import type { Secret } from '../contract/secret.ts';
import { emptyDraft, finishedAnswer, type Draft } from './draft.ts';
import { failureOf, messageOf, type LibraryErrors } from './failure.ts';

const MOST_ADAPTATIONS = 3;

/** What a request to a library takes beside its body. */
type SendOptions = { signal: AbortSignal; headers: Record<string, string> };

/** How a provider's library is asked. */
export type Dialect<Request extends { model: string }> = {
  errors: LibraryErrors;
  /** The API key, which is masked in messages. */
  key: Secret;
  send: (request: Request, options: SendOptions) => PromiseLike<AsyncIterable<unknown>>;
  /** Adds a chunk to the draft, counts it, and returns the text that it brought. Throws a StepError. */
  add: (draft: Draft, chunk: unknown) => string;
  /**
   * The request without what the server said that it cannot take; undefined when there is nothing to leave
   * out.
   */
  adapt: (request: Request, complaint: string) => Request | undefined;
};

/**
 * Sends the request, and sends it again without what the server cannot take.
 * @throws StepError for every failure; the library does not retry, the runner does
 */
export async function askModel<Request extends { model: string }>(
  request: Request,
  dialect: Dialect<Request>,
  context: ModelContext,
): Promise<ModelAnswer> {
  const { key, errors } = dialect;
  const { signal, effect } = context;
  try {
    return await adaptAndAsk(request, dialect, context);
  } catch (error) {
    throw failureOf(signal.aborted ? abortion(signal) : error, { key, effect, errors });
  }
}

async function adaptAndAsk<Request extends { model: string }>(
  request: Request,
  dialect: Dialect<Request>,
  context: ModelContext,
): Promise<ModelAnswer> {
  let current = request;
  for (let adaptations = 0; ; adaptations += 1) {
    // A key stands for one body.
    const suffix = adaptations === 0 ? '' : `/adapted-${adaptations}`;
    try {
      return await askOnce(current, dialect, {
        ...context,
        idempotencyKey: context.idempotencyKey + suffix,
      });
    } catch (error) {
      const next =
        adaptations < MOST_ADAPTATIONS && isRefusal(error)
          ? dialect.adapt(current, messageOf(error, dialect.errors))
          : undefined;
      if (!next) throw error;
      current = next;
    }
  }
}

function isRefusal(error: unknown): error is Error {
  return error instanceof Error && 'status' in error && (error.status === 400 || error.status === 422);
}

async function askOnce<Request extends { model: string }>(
  request: Request,
  { send, add }: Dialect<Request>,
  { signal: stop, idempotencyKey, patience, emitText }: ModelContext,
): Promise<ModelAnswer> {
  const silence = silenceWatch(patience.firstChunkMs);
  const signal = AbortSignal.any([stop, silence.signal]);
  const draft = emptyDraft();
  try {
    const headers = { 'Idempotency-Key': idempotencyKey };
    for await (const chunk of await send(request, { signal, headers })) {
      silence.restart(patience.idleMs);
      const text = add(draft, chunk);
      if (text !== '') emitText(text, idempotencyKey);
    }
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.stop();
  }
  // The libraries end an aborted stream as if it were complete.
  if (silence.signal.aborted) throw silence.signal.reason;
  if (stop.aborted) throw abortion(stop);
  return finishedAnswer(draft, request.model);
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
