/** Objects of the cluster as manifests for Git. Pure. */
import type { Credential, Workflow } from '../../api/kinds.ts';
import { namedCredentials } from '../../operator/shared/credentialRefs.ts';
import type { KubeObject } from '../../kube/resource.ts';

/** Annotations that the cluster writes, or that ask for something once. */
const OF_THE_CLUSTER =
  /^(?:kubectl\.kubernetes\.io|windlass\.dev|deployment\.kubernetes\.io|meta\.helm\.sh)\//;

/** The object as somebody would write it: no status, and nothing that the API server or an operator sets. */
export function manifestOf({ apiVersion, kind, metadata, spec }: KubeObject): object {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([name]) => !OF_THE_CLUSTER.test(name),
  );
  const { name, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(labels && Object.keys(labels).length > 0 && { labels }),
      ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    },
    spec,
  };
}

/** The names of the credentials that a workflow uses. */
export function credentialsOf({ spec }: Workflow): string[] {
  return [...new Set(namedCredentials(spec).map(({ name }) => name))];
}

/** The Secrets that credentials name, with their keys: they are not exported. */
export function secretsOf(credentials: readonly Credential[]): Map<string, Set<string>> {
  const secrets = new Map<string, Set<string>>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [member, inner] of Object.entries(value)) {
      if (member.endsWith('Ref') && isReference(inner)) {
        const keys = secrets.get(inner.name) ?? new Set();
        secrets.set(inner.name, keys.add(inner.key));
      } else visit(inner);
    }
  };
  for (const { spec } of credentials) visit(spec);
  return secrets;
}

function isReference(value: unknown): value is { name: string; key: string } {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && typeof value.name === 'string' && 'key' in value && typeof value.key === 'string';
}
