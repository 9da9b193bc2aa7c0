/** The seven kinds: names, columns and schemas, from which the CRDs are generated. */
import * as z from 'zod';
import {
  credentialSpec,
  credentialStatus,
  type CredentialSpec,
  type CredentialStatus,
} from './credential.ts';
import { draftSpec, type DraftSpec } from './draft.ts';
import {
  evaluationSpec,
  evaluationStatus,
  type EvaluationSpec,
  type EvaluationStatus,
} from './evaluation.ts';
import { GROUP, VERSION } from './group.ts';
import {
  projectSettingsRules,
  projectSettingsSpec,
  projectSettingsStatus,
  type ProjectSettingsSpec,
  type ProjectSettingsStatus,
} from './projectSettings.ts';
import { routeSpec, routeStatus, type RouteSpec } from './route.ts';
import { runRules, runSpec, runStatus, type RunSpec, type RunStatus } from './run.ts';
import { workflowSpec, workflowStatus, type WorkflowSpec, type WorkflowStatus } from './workflow.ts';

type Column = {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean';
  jsonPath: string;
  description: string;
  priority?: 0 | 1;
};

export type Kind = {
  kind: string;
  plural: string;
  singular: string;
  shortNames: string[];
  description: string;
  spec: z.ZodType;
  /** Left out: nothing observes objects of the kind. */
  status?: z.ZodType;
  rootRules?: { 'x-kubernetes-validations': unknown[] };
  columns: Column[];
  selectableFields?: string[];
};

const age: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since creation.',
};
const conditionColumn = (
  type: string,
  field: string,
  name: string,
  description: string,
  priority: 0 | 1 = 0,
): Column => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].${field}`,
  description,
  priority,
});

/**
 * A column of `kubectl get -o wide` and of the console's lists. Times are strings, because date columns show
 * only an age.
 */
const detail = (
  name: string,
  jsonPath: string,
  description: string,
  type: Column['type'] = 'string',
): Column => ({ name, type, jsonPath, description, priority: 1 });

export const WORKFLOW: Kind = {
  kind: 'Workflow',
  plural: 'workflows',
  singular: 'workflow',
  shortNames: ['wlf'],
  description:
    'A graph of nodes that starts at one trigger, with agents, skills and a response as steps. The operator activates it.',
  spec: workflowSpec,
  status: workflowStatus,
  rootRules: {
    'x-kubernetes-validations': [
      {
        rule: 'self.metadata.name.size() <= 63',
        message: 'the name of a workflow must have at most 63 characters',
      },
      {
        rule: '!has(self.spec.onFailure) || self.spec.onFailure.workflow != self.metadata.name',
        // Without a path the API server names the object `<nil>`.
        fieldPath: '.spec.onFailure.workflow',
        message:
          'onFailure names the workflow itself: name another workflow, which starts when a run of this one fails',
      },
    ],
  },
  columns: [
    {
      name: 'Active',
      type: 'boolean',
      jsonPath: '.spec.active',
      description: 'Whether the trigger starts runs.',
    },
    {
      name: 'Suspended',
      type: 'boolean',
      jsonPath: '.spec.suspend',
      description: 'Whether every run is refused.',
    },
    conditionColumn('Ready', 'status', 'Ready', 'Whether the spec is in effect.'),
    conditionColumn('Ready', 'reason', 'Reason', 'The reason of the status of Ready.'),
    { name: 'Trigger', type: 'string', jsonPath: '.status.trigger', description: 'The kind of the trigger.' },
    {
      name: 'Access',
      type: 'string',
      jsonPath: '.status.access',
      description:
        'Who may call the webhook now. Public: anybody who knows the URL; Closed: nobody; otherwise the auth scheme.',
    },
    detail('URL', '.status.url', 'The URL of the webhook.'),
    conditionColumn('Ready', 'message', 'Message', 'The message of Ready.', 1),
    {
      name: 'Last run',
      type: 'date',
      jsonPath: '.status.runs.last',
      description: 'When the last live run (not a test run) was accepted.',
    },
    detail(
      'Display name',
      '.spec.displayName',
      'The name that the console shows, if it is not the object name.',
    ),
    conditionColumn(
      'Stalled',
      'status',
      'Stalled',
      'Whether waiting does not help: the manifest, or an object that conflicts with it, must change.',
      1,
    ),
    detail(
      'Last accepted',
      '.status.runs.last',
      'When the last live run (not a test run) was accepted, as a time.',
    ),
    detail('Running', '.status.runs.running', 'Runs that a runner executes, including test runs.', 'integer'),
    detail(
      'Waiting',
      '.status.runs.waiting',
      'Unfinished runs that no runner executes, including test runs.',
      'integer',
    ),
    detail(
      'Succeeded',
      '.status.runs.succeeded',
      'Runs that succeeded, in total, not counting test runs.',
      'integer',
    ),
    detail(
      'Failed',
      '.status.runs.failed',
      'Runs that ended in phase Failed, in total, not counting test runs.',
      'integer',
    ),
    detail('Used on', '.status.usage.date', 'The last day (UTC) on which an agent asked a model.'),
    detail('Tokens', '.status.usage.tokens', 'Tokens that agents used on that day.', 'integer'),
    detail('Cost', '.status.usage.cost', 'What these tokens cost, as far as the prices are known.'),
    detail('Currency', '.status.usage.currency', 'The currency of the cost.'),
    detail(
      'Cancelled',
      '.status.runs.cancelled',
      'Runs that were cancelled or replaced, in total, not counting test runs.',
      'integer',
    ),
    age,
  ],
};

export const WORKFLOW_RUN: Kind = {
  kind: 'WorkflowRun',
  plural: 'workflowruns',
  singular: 'workflowrun',
  shortNames: ['wlr'],
  description: 'One execution of a workflow for one event, with the output of each node.',
  spec: runSpec,
  status: runStatus,
  rootRules: runRules,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'The phase of the run.' },
    { name: 'Workflow', type: 'string', jsonPath: '.spec.workflow', description: 'The workflow.' },
    {
      name: 'Trigger',
      type: 'string',
      jsonPath: '.status.trigger',
      description: 'The kind of the trigger, or execute.',
    },
    {
      name: 'Duration',
      type: 'string',
      jsonPath: '.status.duration',
      description: 'Time from start to end.',
    },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason', description: 'Why it failed.' },
    age,
    // Short values first: the longest line of `-o wide` breaks in the message.
    detail('Test', '.spec.test', 'Whether it is a test run.', 'boolean'),
    detail('Accepted', '.status.acceptedTime', 'When the event was accepted.'),
    detail('Started', '.status.startTime', 'When a runner started it.'),
    detail('Completed', '.status.completionTime', 'When it ended.'),
    detail(
      'Waits until',
      '.status.nodes[?(@.phase=="Waiting")].waitingFor..until',
      'When the wait of the first waiting node ends, or its callback times out.',
    ),
    detail(
      'Failed items',
      '.status.nodes[?(@.items.failed>0)].items.failed',
      'How many items of the first node with failed items failed. The run may have succeeded.',
      'integer',
    ),
    detail('Until', '.spec.until', 'The last node that a test run runs.'),
    detail('Retry of', '.spec.retryOf', 'The run that it repeats.'),
    detail('Requested by', '.spec.requestedBy', 'The user who requested it.'),
    detail('Message', '.status.message', 'Why it failed, in a sentence.'),
  ],
  selectableFields: ['.status.phase', '.spec.workflow'],
};

export const CREDENTIAL: Kind = {
  kind: 'Credential',
  plural: 'credentials',
  singular: 'credential',
  shortNames: ['wlc'],
  description:
    'An account that workflows use: its kind, the Secret keys that hold it, and whether it works. It holds no secret itself.',
  spec: credentialSpec,
  status: credentialStatus,
  columns: [
    { name: 'Kind', type: 'string', jsonPath: '.status.kind', description: 'The kind of account.' },
    conditionColumn('Ready', 'status', 'Ready', 'Whether the credential works.'),
    conditionColumn('Ready', 'reason', 'Reason', 'The reason of the status of Ready.'),
    { name: 'Account', type: 'string', jsonPath: '.status.account', description: 'The name of the account.' },
    conditionColumn('Ready', 'message', 'Message', 'The message of Ready.', 1),
    detail('Checked', '.status.lastChecked', 'When it was last checked.'),
    detail('Expires', '.status.expires', 'When the access expires.'),
    detail('Connect', '.status.connectURL', 'The URL that returns a link to connect the account.'),
    age,
  ],
};

export const WEBHOOK_ROUTE: Kind = {
  kind: 'WebhookRoute',
  plural: 'webhookroutes',
  singular: 'webhookroute',
  shortNames: [],
  description: 'What the gateway serves of one workflow. Only the operator writes it.',
  spec: routeSpec,
  status: routeStatus,
  columns: [
    { name: 'Workflow', type: 'string', jsonPath: '.spec.workflow', description: 'The workflow.' },
    { name: 'Active', type: 'boolean', jsonPath: '.spec.active', description: 'Whether events start runs.' },
    {
      name: 'Path',
      type: 'string',
      jsonPath: '.spec.webhook.path',
      description: 'Last segment of the webhook URL, if the workflow has one.',
    },
    {
      name: 'Access',
      type: 'string',
      jsonPath: '.spec.webhook.access',
      description: 'Who may call the webhook. Public: anybody who knows the URL; otherwise the auth scheme.',
    },
    {
      name: 'Bot',
      type: 'string',
      jsonPath: '.spec.bot.credential',
      description: 'The Credential of the bot whose messages start runs, if the workflow has one.',
    },
    { name: 'Trigger', type: 'string', jsonPath: '.spec.trigger', description: 'The kind of the trigger.' },
    age,
  ],
};

export const PROJECT_SETTINGS: Kind = {
  kind: 'ProjectSettings',
  plural: 'projectsettings',
  singular: 'projectsettings',
  shortNames: [],
  description:
    'Settings of one project that differ from the installation: runners, their placement, egress of steps, defaults of workflows. For platform teams; authors of workflows need no permission to write it.',
  spec: projectSettingsSpec,
  status: projectSettingsStatus,
  rootRules: projectSettingsRules,
  columns: [
    conditionColumn('Ready', 'status', 'Ready', 'Whether all settings are in effect.'),
    conditionColumn('Ready', 'reason', 'Reason', 'The reason of the status of Ready.'),
    {
      name: 'Replicas',
      type: 'integer',
      jsonPath: '.status.replicas',
      description: 'The number of runners.',
    },
    conditionColumn('Ready', 'message', 'Message', 'The message of Ready.', 1),
    age,
  ],
};

export const EVALUATION: Kind = {
  kind: 'Evaluation',
  plural: 'evaluations',
  singular: 'evaluation',
  shortNames: ['wle'],
  description:
    'Cases that the operator runs as test runs of a workflow, and how many of them met their expectations, for up to four revisions or models side by side.',
  spec: evaluationSpec,
  status: evaluationStatus,
  rootRules: {
    'x-kubernetes-validations': [
      {
        rule: 'self.metadata.name.size() <= 63',
        message: 'the name of an Evaluation must have at most 63 characters',
      },
    ],
  },
  columns: [
    { name: 'Workflow', type: 'string', jsonPath: '.spec.workflow', description: 'The workflow.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'The phase of the evaluation.' },
    {
      name: 'Passed',
      type: 'integer',
      jsonPath: '.status.passed',
      description: 'Runs that met all expectations.',
    },
    { name: 'Failed', type: 'integer', jsonPath: '.status.failed', description: 'Runs that did not.' },
    { name: 'Total', type: 'integer', jsonPath: '.status.total', description: 'All runs.' },
    {
      name: 'Result',
      type: 'string',
      jsonPath: '.status.result',
      description: 'The variants side by side: pass rate, tokens and mean time of each.',
    },
    age,
    conditionColumn('Complete', 'reason', 'Reason', 'The reason of Complete.', 1),
    conditionColumn('Complete', 'message', 'Message', 'The message of Complete.', 1),
  ],
};

export const WORKFLOW_DRAFT: Kind = {
  kind: 'WorkflowDraft',
  plural: 'workflowdrafts',
  singular: 'workflowdraft',
  shortNames: ['wld'],
  description:
    'Unpublished changes of the workflow of the same name. The console writes it while somebody edits the workflow, and deletes it when they are published or discarded. Nothing executes it.',
  spec: draftSpec,
  columns: [age],
};

export const KINDS: Kind[] = [
  WORKFLOW,
  WORKFLOW_RUN,
  CREDENTIAL,
  WEBHOOK_ROUTE,
  PROJECT_SETTINGS,
  EVALUATION,
  WORKFLOW_DRAFT,
];

type Metadata = {
  name: string;
  namespace?: string;
  uid?: string;
  generation?: number;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: {
    apiVersion: string;
    kind: string;
    name: string;
    uid: string;
    controller?: boolean;
    blockOwnerDeletion?: boolean;
  }[];
  finalizers?: string[];
};

type Resource<Name extends string, Spec, Status> = {
  apiVersion: `${typeof GROUP}/${typeof VERSION}`;
  kind: Name;
  metadata: Metadata;
  spec: Spec;
  status?: Status;
};

export type Workflow = Resource<'Workflow', WorkflowSpec, WorkflowStatus>;
export type WorkflowRun = Resource<'WorkflowRun', RunSpec, RunStatus>;
export type Credential = Resource<'Credential', CredentialSpec, CredentialStatus>;
export type WebhookRoute = Resource<'WebhookRoute', RouteSpec, Record<string, never>>;
export type WorkflowDraft = Resource<'WorkflowDraft', DraftSpec, Record<string, never>>;
export type Evaluation = Resource<'Evaluation', EvaluationSpec, EvaluationStatus>;
export type ProjectSettings = Resource<'ProjectSettings', ProjectSettingsSpec, ProjectSettingsStatus>;
