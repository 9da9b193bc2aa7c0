/** The names that the objects of a runner pool have in every project. */

/** Deployment, ServiceAccount, Role, RoleBinding and Secret of a pool, all of the same name. */
export const POOL = 'windlass-runner';

/** What a pool's objects are found by, and its pods selected by. */
export const POOL_LABELS = {
  'app.kubernetes.io/name': POOL,
  'app.kubernetes.io/managed-by': 'windlass',
} as const;

/** The CronJob whose pods look at the accounts of polled triggers. */
export const POLL = 'windlass-poll';
export const POLL_LABELS = {
  'app.kubernetes.io/name': POLL,
  'app.kubernetes.io/managed-by': 'windlass',
} as const;
