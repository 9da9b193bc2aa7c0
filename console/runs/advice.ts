/** What a person can do about each reason for which a node or a run fails. */
import { FAILURES, type FailureReason } from '../../api/reasons.ts';

const ADVICE: Record<FailureReason, string> = {
  MissingValue:
    'Compare the reference with the input: correct it in the node, or see to it that the value is sent.',
  InvalidParameters:
    'Look at the input and at the fields of the node: one of the values has another form than the node takes.',
  ConditionFailed:
    'Correct the condition of the edge: it names something that the nodes before do not produce.',
  CredentialMissing:
    'Look at the credential: create it, its Secret or the key that is missing, then run again. With retries the node would try by itself.',
  CredentialRejected:
    'Renew the password, key or connection of the credential, test it there, then run again.',
  AddressForbidden:
    'Use a public address, or ask whoever manages the cluster to let steps connect to this one (egress.allow).',
  Unreachable:
    'Check host and port, and whether the other side is up. Retries on the node help with short outages.',
  RateLimited: 'Run it less often, or give the node retries: they wait as long as the other side asks for.',
  UpstreamError:
    'Try again later, or look into the log of the other side. Retries on the node help if it passes.',
  Refused: 'Read what the other side says above and correct the fields of the node.',
  InvalidAnswer:
    'Check that the address is the right one: something answers there that is not what the node talks to.',
  Timeout:
    'Give the node a longer timeout, or less to do. Retries on the node help if it is slow only at times.',
  OutputTooLarge: 'Let the node produce less: fewer rows, a smaller file, fewer tokens.',
  EffectUnknown:
    'Look at the other side (such as the mailbox) whether it happened. If it did not, run again; a rerun does all of it once more.',
  RunTimeout: 'Give the workflow a longer timeout, or split it.',
  Replaced:
    'To execute this event anyway, run it again. To keep runs from being replaced, set concurrency.policy to Queue.',
  Cancelled: 'Run it again if it shall be done after all. What nodes did before is not undone.',
  Poison:
    'Look at the log of the runner and its memory limit: the run uses more than a runner has. Then run again.',
  DataLost: 'Create a run with the input given anew: a test run, or the event sent again.',
  RevisionMissing: 'Run again with today’s workflow: the old revision is not kept any more.',
  RevisionNotActivated: 'Run again with today’s workflow, or execute that revision in a test run.',
  NodeMissing: 'Choose a node that the workflow has, and run as far as that.',
  RunMissing: 'The run that was to be repeated is not kept any more. Start a new one.',
  WorkflowMissing: 'Look whether the workflow was deleted or renamed. Create it, then run again.',
  WorkflowInactive: 'Activate the workflow, or start a test run.',
  Suspended: 'Resume the workflow (spec.suspend: false), then run again.',
  WorkflowInvalid: 'Open the workflow: what is wrong with it is shown at its nodes.',
  ConcurrencyLimit:
    'Wait until others have ended, raise the limit of the workflow, or let runs queue (concurrency.policy: Queue).',
  NameTaken: 'Create the run under another name, or press Run again once more.',
  NodeFailed: 'Look at the node that failed: what happened and what to do is said there.',
  Internal: 'This is a defect of Windlass. Look into the log of the runner, and report it.',
};

export type Advice = { meaning: string; todo: string };

/** What a reason means, and what to do; undefined for one that this console does not know. */
export function adviceOn(reason: string | undefined): Advice | undefined {
  if (reason === undefined || !Object.hasOwn(ADVICE, reason)) return undefined;
  const known = reason as FailureReason;
  return { meaning: FAILURES[known].meaning, todo: ADVICE[known] };
}
