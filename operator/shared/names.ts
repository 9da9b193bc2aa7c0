/** The names and labels of the objects that the operator creates in every project. */

/** The manager of the fields that the operator sets. */
export const FIELD_MANAGER = 'windlass-operator';

const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'windlass' } as const;

/** Deployment, ServiceAccount, Role, RoleBinding and Secret of a runner pool, all of the same name. */
export const POOL = 'windlass-runner';
/** Selects the objects and pods of runner pools. */
export const POOL_LABELS = { 'app.kubernetes.io/name': POOL, ...MANAGED_BY } as const;

/** The CronJob whose pods poll accounts. */
export const POLL = 'windlass-poll';
export const POLL_LABELS = { 'app.kubernetes.io/name': POLL, ...MANAGED_BY } as const;

/** The value of the name label of the CronJobs of schedules, and of their pods. */
export const TICK = 'windlass-tick';
export const TICK_LABELS = { 'app.kubernetes.io/name': TICK, ...MANAGED_BY } as const;
