/** The write was not sent, because another process may lead now. */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';

  constructor() {
    super('The write was not sent: another process may lead now.');
  }
}

/**
 * Throws a `NotLeadingError` for a write of a process that may no longer lead. To be called at the moment
 * when the request is sent on its connection: before that, the request may have been queued, or the process
 * paused, for any time.
 */
export function refuseWriteUnless(mayWrite: () => boolean, method: string): void {
  if (method !== 'GET' && !mayWrite()) throw new NotLeadingError();
}
