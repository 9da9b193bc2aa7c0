/**
 * Keeps back the writes of a process that may have lost what allowed it to write. It asks at the moment at
 * which a request would go onto its connection: before that a request may have waited, or the whole process
 * have stood still, for any time.
 */
import type { Dispatcher } from 'undici';

/** Nothing was sent, because another process may be the one to write now. */
export class FencedError extends Error {
  override readonly name = 'FencedError';

  constructor() {
    super('Nothing was written: another process may lead by now.');
  }
}

/** For `compose`: lets reads pass, and writes while `mayWrite` says so. Others fail with a `FencedError`. */
export function fenceWrites(mayWrite: () => boolean): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, options.method === 'GET' ? handler : fenced(handler, mayWrite));
}

/** What a handler throws at the start of its request ends the request before a byte of it is sent. */
function fenced(handler: Dispatcher.DispatchHandler, mayWrite: () => boolean): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => {
      if (!mayWrite()) throw new FencedError();
      handler.onRequestStart?.(...args);
    },
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
