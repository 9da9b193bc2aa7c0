/** The environment of the programs that run in the pods of a project. Pure. */
import type { Deployment } from '../../kube/resource.ts';
import { POOL } from '../shared/names.ts';
import { authorityVariable } from './authority.ts';
import type { ProjectConfig } from './settings.ts';

type PodSpec = NonNullable<NonNullable<NonNullable<Deployment['spec']>['template']>['spec']>;
type Variables = NonNullable<PodSpec['containers'][number]['env']>;

export const METRICS_PORT = 9090;
/**
 * Half of the container's memory, since memory outside of the heap needs room: by default Node takes at least
 * 256 MiB for its heap, even if the container has no more. The size of the young generation is set because
 * Node would derive it from the container's memory: a smaller one is collected more often, a larger one
 * pauses longer. V8 compiles and collects on one thread beside the main one: with its default of four, a
 * program that has just started slows others where processors are few. Idle runners collect all garbage
 * themselves.
 */
const HEAP = {
  name: 'NODE_OPTIONS',
  value: '--max-old-space-size-percentage=50 --max-semi-space-size=16 --v8-pool-size=1 --expose-gc',
};

/** The configuration that the environment depends on. */
type EnvironmentConfig = Pick<
  ProjectConfig,
  | 'RUNNER_RESOURCES'
  | 'RUNNER_ENV'
  | 'RUNNER_EGRESS_ALLOW'
  | 'RUNNER_EGRESS_DENY'
  | 'REDIS_URL'
  | 'REDIS_CA_FILE'
  | 'LOG_LEVEL'
>;

/**
 * The environment of programs that connect to hosts that authors name: runners and poll pods. `more`: of one
 * of them.
 */
export function poolEnvironment(
  projectUid: string,
  config: EnvironmentConfig,
  more: Variables = [],
): Variables {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const list = (name: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [{ name, value: entries.join(',') }];
  const secret = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: POOL, key } },
  });
  const own = [
    field('POD_NAMESPACE', 'metadata.namespace'),
    field('POD_NAME', 'metadata.name'),
    { name: 'PROJECT_UID', value: projectUid },
    { name: 'REDIS_URL', value: config.REDIS_URL },
    ...authorityVariable(config),
    secret('REDIS_USERNAME', 'username'),
    secret('REDIS_PASSWORD', 'password'),
    field('HOST_IP', 'status.hostIP'),
    // The API server drops an empty value, which would look like a change each time.
    ...list('EGRESS_ALLOW', config.RUNNER_EGRESS_ALLOW),
    ...list('EGRESS_DENY', config.RUNNER_EGRESS_DENY),
    { name: 'METRICS_PORT', value: String(METRICS_PORT) },
    ...more,
    { name: 'LOG_LEVEL', value: config.LOG_LEVEL },
  ];
  const defaults = config.RUNNER_RESOURCES.limits?.['memory'] === undefined ? [] : [HEAP];
  const taken = new Set(own.map(({ name }) => name));
  const further = Object.entries(config.RUNNER_ENV)
    .filter(([name]) => !taken.has(name))
    .map(([name, value]) => ({ name, value }));
  const isSet = new Set(further.map(({ name }) => name));
  return [...own, ...further, ...defaults.filter(({ name }) => !isSet.has(name))];
}
