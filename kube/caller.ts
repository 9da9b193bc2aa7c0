/** Calls with retries and metrics, over a transport. */
import { sleep } from './clock.ts';
import { ApiError } from './errors.ts';
import { defaultRetries, retryDelay } from './retry.ts';
import type { Exchange, Transport } from './transport.ts';

export type CallOptions = {
  signal?: AbortSignal;
  /** Timeout of one attempt, in milliseconds. */
  timeoutMs?: number;
  /** How often the call is retried after a repeatable error; default 4. */
  retries?: number;
};

/** One attempt of a call. `code`: the HTTP status as text, or `<error>` without an answer. */
export type RequestMetric = { verb: string; resource: string; code: string; seconds: number };

export type CallerOptions = {
  requestTimeoutMs?: number;
  /** How often a call is retried after a repeatable error; default 4. */
  retries?: number;
  signal?: AbortSignal;
  onRequest?: (metric: RequestMetric) => void;
};

export type Call = {
  verb: string;
  resource: string;
  method: string;
  path: string;
  /** A text is sent as it is, anything else as JSON. */
  body?: unknown;
  contentType?: string | undefined;
  accept?: string | undefined;
  /** Whether the call may be repeated if it may have been processed. */
  idempotent: boolean;
  options: CallOptions | undefined;
};

export type Caller = {
  /** Returns the body of the answer. Throws an ApiError, or the reason of the aborted signal. */
  call(call: Call): Promise<string>;
  /** Streams the body of an endless answer. One attempt. */
  stream(call: Call): Promise<AsyncIterable<Uint8Array>>;
};

/** Short enough to detect a dead pooled connection and repeat the call within 15 s. */
const defaultTimeoutMs = 10_000;

export function createCaller(transport: Transport, options: CallerOptions): Caller {
  const { requestTimeoutMs = defaultTimeoutMs, signal, onRequest } = options;

  function exchangeOf(call: Call): Exchange {
    return {
      method: call.method,
      path: call.path,
      body: textOf(call.body),
      contentType: call.contentType,
      accept: call.accept,
      signal: eitherSignal(signal, call.options?.signal),
      timeoutMs: call.options?.timeoutMs ?? requestTimeoutMs,
    };
  }

  async function attempt<T>(call: Call, send: () => Promise<T>, codeOf: (answer: T) => string): Promise<T> {
    const startedAt = performance.now();
    const report = (code: string): void => {
      const seconds = (performance.now() - startedAt) / 1_000;
      onRequest?.({ verb: call.verb, resource: call.resource, code, seconds });
    };
    try {
      const answer = await send();
      report(codeOf(answer));
      return answer;
    } catch (error) {
      report(error instanceof ApiError && error.status > 0 ? String(error.status) : '<error>');
      throw error;
    }
  }

  return {
    call: async (call) => {
      const exchange = exchangeOf(call);
      const retries = call.options?.retries ?? options.retries ?? defaultRetries;
      for (let done = 0; ; done += 1) {
        try {
          const send = (): ReturnType<Transport['send']> => transport.send(exchange);
          return (await attempt(call, send, (answer) => String(answer.status))).text;
        } catch (error) {
          const delay = done < retries ? retryDelay(error, done, call.idempotent) : undefined;
          if (delay === undefined) throw error;
          await sleep(delay, exchange.signal);
          exchange.signal?.throwIfAborted();
        }
      }
    },
    stream: (call) =>
      attempt(
        call,
        () => transport.stream(exchangeOf(call)),
        () => '200',
      ),
  };
}

function textOf(body: unknown): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
}

function eitherSignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return AbortSignal.any([a, b]);
}
