/** The API group, the names of labels and annotations, and how ids and names of children are derived. */

export const GROUP = 'windlass.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

export const LABEL = {
  /** The workflow that an object belongs to. */
  workflow: 'windlass.dev/workflow',
  /** What started a run: one of the trigger kinds, or `execute`. */
  trigger: 'windlass.dev/trigger',
  /** `true` on test runs. */
  test: 'windlass.dev/test',
  /** `true` on a namespace: its webhooks must verify their callers. */
  requireAuth: 'windlass.dev/require-auth',
} as const;

export const ANNOTATION = {
  /** On a gateway replica's Lease: which routes the replica serves. See `api/routes.ts`. */
  routes: 'windlass.dev/routes',
  /** On a gateway replica's Lease: the uids of routes that answer 503 there, because their secrets are not there yet. */
  waiting: 'windlass.dev/waiting',
  /** On a Workflow whose trigger is polled: begin anew, `now` or from a time (RFC 3339) on; granted once per value. */
  resetCursor: 'windlass.dev/reset-cursor',
  /** On a Credential: try it now; obeyed once per value. */
  check: 'windlass.dev/check',
  /** On a ControllerRevision: when an active workflow first had it (RFC 3339). Without it only test runs execute it. */
  activated: 'windlass.dev/activated',
  /** On a WorkflowRun: the run store that it was recorded from, so that a user's own object is told from a record. */
  recorded: 'windlass.dev/recorded',
  /** On a WorkflowRun: the hash of its event's key and that of its body. See `runs/record/keepsake.ts`. */
  dedupe: 'windlass.dev/dedupe',
  /** On a WorkflowRun: `true` where the run was given more than `spec.input` holds. */
  partialInput: 'windlass.dev/partial-input',
  /** On a WorkflowRun: when its input and outputs were removed, as `history.dataTTL` of its workflow says. */
  dataRemoved: 'windlass.dev/data-removed',
} as const;

/** The workflow's id: one path segment, `<namespace>.<name>`. A namespace has no dot, so the first one parts the two. */
export function workflowId(namespace: string, name: string): string {
  return `${namespace}.${name}`;
}

/** The namespace and name that an id stands for; undefined where it has no dot, or an empty side. */
export function parseWorkflowId(id: string): { namespace: string; name: string } | undefined {
  const dot = id.indexOf('.');
  if (dot < 1 || dot === id.length - 1) return undefined;
  return { namespace: id.slice(0, dot), name: id.slice(dot + 1) };
}
