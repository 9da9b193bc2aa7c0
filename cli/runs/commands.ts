/** The commands about runs on a cluster. */
import { RUN_PHASES } from '../../api/phase.ts';
import { CLUSTER_OPTIONS, SYSTEM_OPTION } from '../cluster/options.ts';
import type { Argument, Command, Option } from '../shared/command.ts';
import { OUTPUT_OPTION } from '../shared/output.ts';

const RUN: Argument = { name: 'run', description: 'The name of the run.', completes: 'runs' };
export const WAIT: Option = {
  flags: '--wait',
  description: 'Show what happens until the run has ended, and fail unless it succeeded.',
};

const RUNS: Command = {
  name: 'runs',
  summary: 'List the runs of a project or a workflow',
  description: [
    'Lists the recorded runs of the project, or of one workflow, newest first. Runs without a record are in the console alone: under load, the rate of records is limited.',
  ],
  arguments: [
    { name: 'workflow', description: 'The name of a workflow.', optional: true, completes: 'workflows' },
  ],
  options: [
    { flags: '--phase <phase>', description: 'Only runs in this phase.', choices: RUN_PHASES },
    { flags: '--limit <number>', description: 'The most runs that are shown.', default: '20' },
    ...CLUSTER_OPTIONS,
    OUTPUT_OPTION,
  ],
  examples: [
    { command: 'windlass runs orders --phase Failed', does: 'the newest failed runs of a workflow' },
    { command: 'windlass runs -n shop -o name', does: 'the names of the newest runs of a project' },
  ],
  load: () => import('./list.ts'),
};

const GET: Command = {
  name: 'get',
  summary: 'Show a run with the outputs of its nodes',
  description: ['Prints the record of a run: how it ended, and what each node produced or why it failed.'],
  arguments: [RUN],
  options: [...CLUSTER_OPTIONS, OUTPUT_OPTION],
  examples: [
    { command: 'windlass get orders-x7k2p', does: 'what a run did' },
    { command: 'windlass get orders-x7k2p -o json', does: 'the whole WorkflowRun' },
  ],
  load: () => import('./get.ts'),
};

const RETRY: Command = {
  name: 'retry',
  summary: 'Repeat a run, or continue it at its failed node',
  description: [
    'Starts a new run with the input of a run that has ended. With --from-failed it continues a failed run: nodes that succeeded keep their outputs, and the failed node and those after it are executed.',
    'If the effect of a node may have happened (phase Unknown), --assume-done or --assume-not-done decides, for each such node.',
  ],
  arguments: [RUN],
  options: [
    { flags: '--from-failed', description: 'Continue at the failed node, with the revision of that run.' },
    {
      flags: '--assume-done <node>',
      description: 'The effect of this node happened: it is not executed again.',
      repeatable: true,
    },
    {
      flags: '--assume-not-done <node>',
      description: 'The effect of this node did not happen: it is executed again, with the same effect key.',
      repeatable: true,
    },
    WAIT,
    ...CLUSTER_OPTIONS,
    OUTPUT_OPTION,
  ],
  examples: [
    { command: 'windlass retry orders-x7k2p --from-failed --wait', does: 'continue a failed run' },
    { command: 'windlass retry orders-x7k2p', does: 'once more from the trigger' },
  ],
  load: () => import('./retry.ts'),
};

const CANCEL: Command = {
  name: 'cancel',
  summary: 'Cancel a run',
  description: ['Cancels an unfinished run: a running node is aborted, and a waiting run ends at once.'],
  arguments: [RUN],
  options: [
    { flags: '--wait', description: 'Wait until the run has ended, and fail unless it is cancelled.' },
    ...CLUSTER_OPTIONS,
  ],
  examples: [{ command: 'windlass cancel orders-x7k2p --wait', does: 'cancel a run and wait for its end' }],
  load: () => import('./cancel.ts'),
};

const LOGS: Command = {
  name: 'logs',
  summary: 'Show what happens in a run',
  description: [
    'Prints the nodes of a run in the order of time, with the answers of models, tool calls, and what code wrote with console.log. With --follow it continues until the run has ended, with the text of models as it comes, and fails unless the run succeeds.',
    'Live events come from the gateway, through a connection that the API server forwards: it needs a kubeconfig with a token, and the right to create pods/portforward in the namespace of the release. Without them the record is followed, which has no text of models before they end.',
  ],
  arguments: [RUN],
  options: [
    { flags: '-f, --follow', description: 'Continue until the run has ended.' },
    ...CLUSTER_OPTIONS,
    SYSTEM_OPTION,
  ],
  examples: [
    { command: 'windlass logs orders-x7k2p -f', does: 'follow a run' },
    { command: 'windlass logs orders-x7k2p', does: 'what happened in a run that has ended' },
  ],
  load: () => import('./logs.ts'),
};

const DIFF: Command = {
  name: 'diff',
  summary: 'Compare what a run executed with the workflow of today',
  description: [
    'Prints the differences between the revision of a run and the spec that its workflow has now, in the form in which revisions are stored. It fails if there are any.',
  ],
  arguments: [RUN],
  options: [...CLUSTER_OPTIONS],
  examples: [{ command: 'windlass diff orders-x7k2p', does: 'what has changed since a run' }],
  load: () => import('../diff/command.ts'),
};

export const RUN_COMMANDS: readonly Command[] = [RUNS, GET, LOGS, RETRY, CANCEL, DIFF];
