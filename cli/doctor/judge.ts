/** Judges what was read of an installation. Pure. */
import { KINDS } from '../../api/kinds.ts';
import type { Deployment, KubeObject } from '../../kube/resource.ts';
import { failure, ok, warning, type Check } from './check.ts';

const INSTALL = 'helm upgrade --install windlass charts/windlass --namespace';

/** Whether the API server serves every kind. `served`: the plurals of our group; undefined: it has none. */
export function judgeDefinitions(served: readonly string[] | undefined): Check {
  const missing = KINDS.filter(({ plural }) => !served?.includes(plural)).map(({ kind }) => kind);
  if (missing.length === 0) return ok('definitions', `the cluster has all ${KINDS.length} kinds of Windlass`);
  return failure(
    'definitions',
    `the cluster lacks the kinds ${missing.join(', ')}`,
    'kubectl apply --server-side --filename crds/',
  );
}

export type Right = { verb: string; group: string; resource: string; namespace: string; isAllowed: boolean };

/** Whether the user may do what the commands need. */
export function judgeRights(rights: readonly Right[]): Check {
  const missing = rights.filter(({ isAllowed }) => !isAllowed);
  const [first] = missing;
  if (!first) return ok('rights', 'you may do everything that windlass needs');
  const list = missing.map(({ verb, resource, namespace }) => `${verb} ${resource} in ${namespace}`);
  return warning(
    'rights',
    `you may not ${list.join(', ')}: commands that need it fail`,
    `kubectl auth can-i ${first.verb} ${first.resource} -n ${first.namespace}`,
  );
}

/** A Deployment or StatefulSet. */
export type Program = Pick<Deployment, 'kind' | 'metadata' | 'spec' | 'status'>;

/**
 * Whether the programs of the release run; without any there is no installation in the namespace. Undefined:
 * the user may not list them.
 */
export function judgePrograms(programs: readonly Program[] | undefined, namespace: string): Check[] {
  if (programs === undefined) {
    const message = `you may not list deployments and statefulsets in ${namespace}: whether Windlass runs there is unknown`;
    return [warning('installation', message, `kubectl auth can-i list deployments.apps -n ${namespace}`)];
  }
  if (programs.length === 0)
    return [failure('installation', `namespace ${namespace} has no Windlass`, `${INSTALL} ${namespace}`)];
  return programs.map(judgeProgram);
}

function judgeProgram({ kind, metadata, spec, status }: Program): Check {
  const { name, namespace = '' } = metadata;
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  if (ready >= wanted) return ok(name, `${ready} of ${wanted} pods are ready`);
  const command = `kubectl describe ${kind.toLowerCase()} ${name} -n ${namespace}`;
  const message = `${ready} of ${wanted} pods are ready`;
  return ready === 0 ? failure(name, message, command) : warning(name, message, command);
}

/** Whether operator and gateway have the image of one version. */
export function judgeVersions(programs: readonly Program[], namespace: string): Check[] {
  const images = new Set(programs.filter(isOurs).flatMap(imagesOf));
  if (images.size === 0) return [];
  const list = [...images].join(', ');
  if (images.size === 1) return [ok('versions', `operator and gateway have the image ${list}`)];
  return [
    warning(
      'versions',
      `operator and gateway have different images: ${list}`,
      `helm history windlass -n ${namespace}`,
    ),
  ];
}

/**
 * Whether the run store keeps what it confirmed. `problems`: those that the operator named; undefined: it
 * could not be asked.
 */
export function judgeDurability(problems: readonly string[] | undefined, namespace: string): Check {
  const log = `kubectl logs --namespace ${namespace} --selector app.kubernetes.io/component=operator`;
  if (problems === undefined)
    return warning('run-store', 'the operator could not be asked whether the run store keeps its data', log);
  if (problems.length === 0)
    return ok('run-store', 'shows no setting by which it would lose what it confirmed');
  return warning(
    'run-store',
    `may lose what it confirmed: ${problems.join(', ')} (docs/run-store.md, "Managed services")`,
    log,
  );
}

const OURS = ['operator', 'gateway'];
const isOurs = ({ metadata }: KubeObject | Program): boolean =>
  OURS.includes(metadata.labels?.['app.kubernetes.io/component'] ?? '');

const imagesOf = ({ spec }: Program): string[] =>
  (spec?.template.spec?.containers ?? []).flatMap(({ image }) => (image === undefined ? [] : [image]));

/** What the public address answered to a request for a webhook that does not exist. */
export type PublicAnswer = { origin: string; status?: number; type?: string; problem?: string };

/** Whether webhooks can be called from this machine. `undefined`: no workflow has an address. */
export function judgeWebhooks(answer: PublicAnswer | undefined, namespace: string): Check {
  if (!answer) return ok('webhooks', 'no workflow of the project has a public address');
  const { origin, status, type = '', problem } = answer;
  if (status === 404 && type.startsWith('application/problem+json'))
    return ok('webhooks', `the gateway answers at ${origin}`);
  const what = problem ?? `another program answers there, with status ${status}`;
  return warning(
    'webhooks',
    `webhooks cannot be called from this machine at ${origin}: ${what}`,
    `kubectl get ingress,service -n ${namespace}`,
  );
}
