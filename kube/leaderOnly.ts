/**
 * Refuses writes of a process that may no longer lead. The check happens at the moment when a request is sent
 * on its connection: before that, the request may have been queued, or the process paused, for any time.
 */
import type { Dispatcher } from 'undici';

/** The write was not sent, because another process may lead now. */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';

  constructor() {
    super('The write was not sent: another process may lead now.');
  }
}

/**
 * For `compose`: forwards reads, and writes while `mayWrite` returns true. Other writes fail with a
 * `NotLeadingError`.
 */
export function refuseWritesUnless(mayWrite: () => boolean): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, options.method === 'GET' ? handler : guarded(handler, mayWrite));
}

/** An error of a handler at the start of its request ends the request before a byte is sent. */
function guarded(handler: Dispatcher.DispatchHandler, mayWrite: () => boolean): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => {
      if (!mayWrite()) throw new NotLeadingError();
      handler.onRequestStart?.(...args);
    },
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
