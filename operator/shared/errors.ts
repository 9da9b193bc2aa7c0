/** Errors and texts for writes that the API server or the run store refuses. */
import { WaitingError } from '../../kube/controller.ts';
import type { Unavailable } from '../../store/connection.ts';

/**
 * A sentence with what to do. The message of the API server names the verb and the resource, or the admission
 * policy.
 */
export function explainRefusal(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return isPolicyRefusal(error)
    ? `An admission policy refuses an object of the operator. Undo manual changes to it, or ask the platform team: ${said}`
    : `The operator lacks a right. Ask the platform team: ${said}`;
}

/** Whether an admission policy refused the write, and not RBAC. */
export function isPolicyRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes('ValidatingAdmissionPolicy');
}

/** The error of a reconcile that needs the run store while it is unreachable. */
export function unreachable({ retryAfterSeconds }: Unavailable): WaitingError {
  return new WaitingError('the run store cannot be reached', retryAfterSeconds * 1_000);
}
