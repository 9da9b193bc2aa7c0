/**
 * The tool that manages an object (Argo CD, Flux or Helm), by its labels and annotations, and the fields that
 * it would revert.
 */
import { parseOrUndefined } from '../../api/parseOrUndefined.ts';
import type { ManagedField, ObjectMeta } from '../kube/resources.ts';

export type Manager = {
  tool: 'Argo CD' | 'Flux' | 'Helm';
  /** The application, Kustomization or release, if known. */
  source?: string;
};

/** Undefined: no tool manages the object. */
export function managerOf({ labels = {}, annotations = {} }: ObjectMeta): Manager | undefined {
  const argo =
    annotations['argocd.argoproj.io/tracking-id']?.split(':')[0] ?? labels['argocd.argoproj.io/instance'];
  if (argo !== undefined) return withSource('Argo CD', argo);
  const flux = labels['kustomize.toolkit.fluxcd.io/name'] ?? labels['helm.toolkit.fluxcd.io/name'];
  if (flux !== undefined) return withSource('Flux', flux);
  const release = annotations['meta.helm.sh/release-name'];
  if (release !== undefined || labels['app.kubernetes.io/managed-by'] === 'Helm')
    return withSource('Helm', release ?? '');
  return undefined;
}

/** "Argo CD (shop)". */
export function managerText({ tool, source }: Manager): string {
  return source === undefined ? tool : `${tool} (${source})`;
}

function withSource(tool: Manager['tool'], source: string): Manager {
  return { tool, ...(source !== '' && { source }) };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const TOOLS = /^(argocd|kustomize-controller|helm-controller|helm$|flux)/i;

/**
 * The tool that manages the field at the path, such as ['spec', 'active']; undefined: changes here persist.
 */
export function ownerOfField(metadata: ObjectMeta, path: string[]): Manager | undefined {
  const manager = managerOf(metadata);
  if (manager === undefined) return undefined;
  const applied = metadata.annotations?.[LAST_APPLIED];
  // A client that sends the whole object owns its defaults too; the last-applied annotation has what was
  // written.
  const isTheirs =
    applied === undefined
      ? (metadata.managedFields ?? []).some((entry) => isOwner(entry, path))
      : hasPath(parseOrUndefined(applied), path);
  return isTheirs ? manager : undefined;
}

function isOwner({ manager = '', subresource, fieldsV1 }: ManagedField, path: string[]): boolean {
  const fields = path.map((name) => `f:${name}`);
  return subresource === undefined && TOOLS.test(manager) && hasPath(fieldsV1, fields);
}

function hasPath(value: unknown, [first, ...rest]: string[]): boolean {
  if (first === undefined) return true;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return false;
  return hasPath((value as Record<string, unknown>)[first], rest);
}
