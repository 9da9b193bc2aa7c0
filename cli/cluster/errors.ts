/** Failures of calls to the API server, as sentences for people. Pure. */
import { ApiError } from '../../kube/errors.ts';
import { CommandError, EXIT } from '../shared/exit.ts';

/** Where a call went. */
export type Called = { context: string; connection: { server: string } };

/** The error with which a command ends. Errors that the API server did not send are returned unchanged. */
export function explainedError(error: unknown, called: Called): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message } = wordsOf(error, called);
  return new CommandError(code, message, { cause: error });
}

type Words = { code: typeof EXIT.cluster | typeof EXIT.missing; message: string };

function wordsOf(error: ApiError, { context, connection }: Called): Words {
  const said = saidBy(error);
  switch (error.status) {
    case 0:
      return cluster(
        `the API server ${connection.server} of context ${context} does not answer (${error.reason}): check that the cluster runs, and that this is the right context`,
      );
    case 401:
      return cluster(
        `the API server of context ${context} does not accept your token or certificate: it has expired or is wrong. Sign in again`,
      );
    case 403:
      return cluster(`context ${context} lacks a right: ${said}`);
    case 404:
      return said.includes('could not find the requested resource')
        ? cluster(
            `the cluster of context ${context} has no Windlass: install the chart, or name another context`,
          )
        : { code: EXIT.missing, message: `context ${context}: ${said}${hintFor(said)}` };
    default:
      return cluster(`the API server of context ${context} refuses this: ${said}`);
  }
}

/** A run may be gone although somebody has its name from a log. */
const hintFor = (said: string): string =>
  said.startsWith('workflowruns.')
    ? ': the name or the namespace is wrong, or the history of its workflow no longer keeps the run'
    : '';

const cluster = (message: string): Words => ({ code: EXIT.cluster, message });

/** The sentence of the server, without verb, path and status. */
function saidBy({ message, status }: ApiError): string {
  const start = message.indexOf(`: ${status} `);
  return start === -1 ? message : message.slice(start + `: ${status} `.length);
}
