/** The API group, the names of labels, annotations and the settings of a project, and workflow IDs. */

export const GROUP = 'windlass.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

export const LABEL = {
  /** The name of the workflow that an object belongs to. */
  workflow: 'windlass.dev/workflow',
  /** What started a run: one of the trigger kinds, or `execute`. */
  trigger: 'windlass.dev/trigger',
  /** On a child run: the name of its parent. */
  parent: 'windlass.dev/parent',
  /** On a child run that a loop started: the index of the item, of the innermost loop with `forEach`. */
  parentItem: 'windlass.dev/parent-item',
  /** On a run of an Evaluation: the name of the Evaluation. */
  evaluation: 'windlass.dev/evaluation',
  /** `true` on test runs. */
  test: 'windlass.dev/test',
  /** On a test run in which the console asks a model for a draft (*Help me build*): `true`. */
  helpMeBuild: 'windlass.dev/help-me-build',
  /** On a WebhookRoute of a test run that listens for an event: `true`. */
  listening: 'windlass.dev/listening',
  /** `true` on a namespace: its webhooks must verify their callers. */
  requireAuth: 'windlass.dev/require-auth',
} as const;

export const ANNOTATION = {
  /** On a gateway replica's Lease: which routes the replica serves. See `api/routes.ts`. */
  routes: 'windlass.dev/routes',
  /**
   * On a gateway replica's Lease: the uids of routes that answer 503, because the replica has no secrets for
   * them yet.
   */
  waiting: 'windlass.dev/waiting',
  /**
   * On a Workflow with a polled trigger: resets the cursor to `now` or to a time (RFC 3339), once per value.
   */
  resetCursor: 'windlass.dev/reset-cursor',
  /** On a Credential: requests a check now, once per value. */
  check: 'windlass.dev/check',
  /** On a namespace: the most tokens that agents of the project may use in a day (UTC). */
  budgetTokens: 'windlass.dev/budget-tokens-per-day',
  /** On a namespace: the most that agents of the project may cost in a day (UTC), a decimal text. */
  budgetCost: 'windlass.dev/budget-cost-per-day',
  /**
   * On a ControllerRevision: when it was activated first (RFC 3339). Without it, only test runs can execute
   * the revision.
   */
  activated: 'windlass.dev/activated',
  /**
   * On a WorkflowDraft that has pinned outputs and changes nothing: `true`. Lists, which do not read the
   * content of drafts, know it by that.
   */
  pinsOnly: 'windlass.dev/pins-only',
  /** On a ControllerRevision of a draft: when the operator made it for a test run (RFC 3339). */
  draft: 'windlass.dev/draft',
  /** On a ControllerRevision: when it was published last (RFC 3339). */
  published: 'windlass.dev/published',
  /** On a Workflow and its ControllerRevision: the user who published the spec. See `api/version.ts`. */
  publishedBy: 'windlass.dev/published-by',
  /** On a Workflow and its ControllerRevision: why the spec was published. */
  publishedMessage: 'windlass.dev/published-message',
  /** On a ControllerRevision: the message of an earlier publication, if the newest one has none. */
  earlierMessage: 'windlass.dev/earlier-message',
  /** On a Workflow: the generation of the spec that these are about. */
  publishedGeneration: 'windlass.dev/published-generation',
  /** On a ControllerRevision: the spec of the workflow as people wrote it, as JSON. */
  spec: 'windlass.dev/spec',
  /**
   * On a WorkflowRun: the run store that it was recorded from, which distinguishes a record from a user's own
   * object.
   */
  recorded: 'windlass.dev/recorded',
  /**
   * On a WorkflowRun: the hash of its event's key and that of its body. See
   * `runs/record/restoreAnnotations.ts`.
   */
  dedupe: 'windlass.dev/dedupe',
  /** On a child run: what a restore needs beside `spec.parent`. See `runs/record/restoreAnnotations.ts`. */
  ancestors: 'windlass.dev/ancestors',
  /** On a WorkflowRun: `true` if the input of the run was larger than `spec.input` holds. */
  partialInput: 'windlass.dev/partial-input',
  /**
   * On a WorkflowRun: when its input and outputs were removed because of `history.dataTTL` of its workflow.
   */
  dataRemoved: 'windlass.dev/data-removed',
} as const;

/** The only name that the CRD allows for a ProjectSettings: a namespace has at most one. */
export const SETTINGS_NAME = 'default';

/**
 * The workflow ID: one path segment, `<namespace>.<name>`. A namespace has no dot, so the first dot separates
 * the two.
 */
export function workflowId(namespace: string, name: string): string {
  return `${namespace}.${name}`;
}

/** The namespace and name in a workflow ID; undefined if it has no dot or an empty side. */
export function parseWorkflowId(id: string): { namespace: string; name: string } | undefined {
  const dot = id.indexOf('.');
  if (dot < 1 || dot === id.length - 1) return undefined;
  return { namespace: id.slice(0, dot), name: id.slice(dot + 1) };
}
