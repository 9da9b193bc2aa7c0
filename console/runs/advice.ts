/** What to do about each failure reason of nodes and runs. */
import { FAILURES, type FailureReason } from '../../api/reasons.ts';
import { operatorWords } from '../workflows/operatorWords.ts';

const ADVICE: Record<FailureReason, string> = {
  MissingValue:
    'Compare the reference with the input. Correct it in the node, or make sure the caller sends the value.',
  InvalidParameters:
    'Correct what the message names: a field of the node, the value that it got, or a setting of its credential.',
  ConditionFailed:
    'Correct the condition of the connection: what it reads is missing, or of another type than it expects.',
  CredentialMissing: 'Create the credential, its Secret or the missing key, then retry.',
  CredentialRejected: 'Renew the password, key or connection of the credential and test it, then retry.',
  AddressForbidden: 'Use a public address, or ask an administrator to allow this one (runner.egress.allow).',
  Unreachable:
    'Check host and port, and that the service is up. Retries on the node help with short outages.',
  RateLimited: 'Run it less often, or add retries to the node: they wait as long as the service asks for.',
  UpstreamError:
    'Try again later, or check the log of the service. Retries on the node help with temporary errors.',
  Refused: 'Correct the fields of the node according to the message above.',
  InvalidAnswer: 'Check the address: the response is not what the node expects from this service.',
  Timeout:
    'Give the node a longer timeout or less work. Retries on the node help if the service is slow at times.',
  CallbackTimeout:
    'Check whether the outside system called the URL, or give the callback a longer timeout (at most 90d).',
  TooManyItems:
    'Process several items at a time (Batch), or filter the list in an earlier node with the skill Set.',
  RepeatLimit:
    'Raise the number of executions or the delay between them, or correct Until: compare it with the output of the last execution.',
  StepLimit: 'Raise "Max steps" of the agent, or give it a smaller task. The conversation shows what it did.',
  InvalidToolCall:
    'Describe the tool and its parameters more clearly, give it fewer tools, or use another model. The conversation shows the calls.',
  NotMocked:
    'Add the entry that the message shows to spec.mocks, or remove mocks if all effects may be real.',
  InvalidMocks: 'Correct spec.mocks or spec.model as the message says, and create another test run.',
  TranscriptTooLarge:
    'Let the tools return less (a narrower query, fewer rows), or give the agent a smaller task.',
  BudgetExceeded:
    'Raise the budget that the message names, lower Max tokens, or give the agent a smaller task. Budgets of a day start again at midnight UTC.',
  PriceUnknown:
    'Ask an administrator to add the price of the model (chart value prices.models), or limit tokens in place of the cost.',
  ContextTooLong:
    'Shorten the prompt, let the tools return less, lower the window of the memory, or use a model with a larger context.',
  MemoryBusy:
    'Other runs with the same memory key took more than 10 minutes, or too many of them wait. Retry, or give independent conversations keys of their own.',
  OutputTooLarge: 'Reduce the output: fewer rows, a smaller file, fewer tokens.',
  CodeError: 'Correct the code at the line that the message names.',
  CodeTimeout: 'Make the code do less, or give it a longer timeout (at most 60s).',
  CodeMemoryExceeded: 'Keep less data in the code at a time, or give it more memory (at most 128 MiB).',
  CodeStackExceeded:
    'Replace the recursion in the code by a loop, or return data that is nested less deeply.',
  CodeInputTooLarge: 'Let the code name fewer nodes, or give it more memory (at most 128 MiB).',
  CodeDisabled:
    'Compute the value with the skill Set, or ask an administrator to allow code (runner.code.enabled).',
  InvalidOutput: 'Return a JSON value from the code: text, a number, true, false, null, a list or an object.',
  NotResumable: 'Retry from the start, which repeats all nodes, or correct the decisions.',
  DecisionMissing:
    'Check at the service whether the effect happened, then decide the node when you retry from the failed node.',
  EffectUnknown:
    'Check at the service, for example in the mailbox, whether the effect happened. Then retry from the failed node, and choose there whether this node is executed again.',
  RunTimeout: 'Give the workflow a longer timeout, or split it.',
  Replaced:
    'Retry to execute this event anyway. To keep runs from being replaced, choose Queue under When the limit is reached in the workflow settings.',
  Cancelled: 'Retry to run it after all. Effects that already happened are not undone.',
  Poison:
    'Check the log and the memory limit of the runner: the run may need more memory than a runner has. Then retry.',
  DataLost: 'Start a new run with the input: start a test run, or send the event again.',
  RevisionMissing: 'Retry with the current version: the old one no longer exists.',
  RevisionNotActivated: 'Retry with the current version, or run the other version as a test run.',
  DraftInvalid: 'Correct the draft: the message names the node. Then start another test run.',
  CannotListen: 'Start the test run again, or send an event of your own in the test dialog.',
  NoEvent: 'Start the test run again, and send the event to its URL while it listens.',
  NodeMissing: 'Choose an existing node to stop at.',
  RunMissing: 'The original run no longer exists. Start a new run.',
  WorkflowMissing: 'The workflow was deleted or renamed. Create it, then retry.',
  WorkflowInactive: 'Activate the workflow, or start a test run.',
  Suspended: 'Resume the workflow, then retry.',
  WorkflowInvalid: 'Open the workflow: its nodes show the problems.',
  WorkflowCycle: 'Remove one of the workflow nodes that the message names.',
  ChildFailed: 'Open the child run: it shows which node failed, and what to do.',
  TooDeep: 'Run the workflow from one that is nearer to the root.',
  TooManyChildren: 'Pass several items to each child run.',
  RunStoreFull: 'Retries on the node help until other runs have ended. Run fewer child runs at a time.',
  ConcurrencyLimit:
    'Wait until other runs end, or change the workflow settings: raise Concurrent runs, or choose Queue under When the limit is reached.',
  NameTaken: 'Retry again, or create the run under another name.',
  NodeFailed: 'Open the failed node: it shows the error and what to do.',
  Internal: 'This is a bug in Windlass. Check the log of the runner and report it.',
};

export type Advice = { meaning: string; todo: string };

/** The meaning and advice of a reason; undefined for unknown reasons. */
export function adviceOn(reason: string | undefined): Advice | undefined {
  if (reason === undefined || !Object.hasOwn(ADVICE, reason)) return undefined;
  const known = reason as FailureReason;
  return { meaning: operatorWords(FAILURES[known].meaning), todo: ADVICE[known] };
}
