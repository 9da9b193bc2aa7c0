/**
 * Where the demo puts what it makes, and how it tells its own objects from those of others: on a cluster of
 * somebody else it uses namespaces of its own, installs nothing over an installation that is there, and
 * removes what it made and nothing else.
 */
import type { Cluster } from '../cluster/cluster.ts';
import {
  DEMO_LABEL,
  demoNamespace,
  windlassNamespace,
  WINDLASS_KINDS,
} from '../support/installation/install.ts';
import { getJson } from '../support/cluster/kubectl.ts';

/** The namespace of the examples: on a cluster of ours that of commands without `-n`. */
export const projectOf = ({ provider }: Pick<Cluster, 'provider'>): string =>
  provider === 'current' ? 'windlass-examples' : 'default';

type Metadata = { name: string; namespace?: string; labels?: Record<string, string> };
type Item = { kind: string; metadata: Metadata };

/** What a cluster has that bears on the demo. */
export type Found = {
  /** All namespaces. */
  namespaces: readonly Metadata[];
  /** The names of the custom resource definitions of Windlass. */
  definitions: readonly string[];
  /** The objects of Windlass that people write, in all namespaces. */
  objects: readonly Item[];
};

/** What keeps the demo from using this cluster: parts of Windlass that it did not make. Empty: nothing. */
export function foreignParts({ namespaces, definitions }: Found, project: string): string[] {
  const isOurs = ({ labels = {} }: Metadata): boolean => labels[DEMO_LABEL] === 'true';
  const own = [windlassNamespace, demoNamespace, project];
  const foreign = namespaces.filter((each) => own.includes(each.name) && !isOurs(each));
  const system = namespaces.find(({ name }) => name === windlassNamespace);
  const isInstalledByOthers = definitions.length > 0 && !(system && isOurs(system));
  return [
    ...foreign.map(({ name }) => `namespace ${name} exists and was not made by the demo`),
    ...(isInstalledByOthers ? [`the kinds of Windlass are installed (${definitions.join(', ')})`] : []),
  ];
}

/** Objects that would be deleted with the kinds of Windlass, although the demo did not make them. */
export function foreignObjects({ objects }: Found, project: string): string[] {
  return objects
    .filter(({ metadata }) => metadata.namespace !== project)
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
}

/** What the demo tells before it changes a cluster of somebody else. */
export function planOf(project: string): string {
  return `WINDLASS_CLUSTER=current: this changes the cluster of your current context.
  namespaces    ${windlassNamespace} (Windlass), ${demoNamespace} (servers for the examples), ${project} (the examples)
  cluster-wide  custom resource definitions of windlass.dev, ClusterRoles and their bindings, admission policies, a priority level
  tokens        of service accounts in ${demoNamespace}, which end after an hour; they may act in ${project} alone
Nothing else is touched. npm run demo -- --down removes all of it.`;
}

async function find(cluster: Cluster): Promise<Found> {
  const { items: namespaces } = await getJson<{ items: Item[] }>(cluster, 'namespaces');
  const { items } = await getJson<{ items: Item[] }>(cluster, 'customresourcedefinitions');
  const definitions = items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.endsWith('.windlass.dev'));
  const written = WINDLASS_KINDS.filter(
    (kind) => kind !== 'webhookroutes.windlass.dev' && definitions.includes(kind),
  );
  const objects =
    written.length === 0 ? [] : (await getJson<{ items: Item[] }>(cluster, written.join(','), '-A')).items;
  return { namespaces: namespaces.map(({ metadata }) => metadata), definitions, objects };
}

/** Throws where the cluster of somebody else has a Windlass that the demo did not install. */
export async function requireOwnInstallation(cluster: Cluster, project: string): Promise<void> {
  if (cluster.provider !== 'current') return;
  const problems = foreignParts(await find(cluster), project);
  if (problems.length === 0) return;
  throw new Error(
    `the demo would change an installation that is not its own: ${problems.join('; ')}. ` +
      'Use another cluster, or leave WINDLASS_CLUSTER out to have one started here',
  );
}

/** Throws where removing the kinds of Windlass would delete objects of others. */
export async function requireOwnObjects(cluster: Cluster, project: string): Promise<void> {
  const others = foreignObjects(await find(cluster), project);
  if (others.length === 0) return;
  throw new Error(
    `removing the kinds of Windlass would delete objects that the demo did not make: ${others.join(', ')}. ` +
      'Delete or move them first, then run this again',
  );
}
