/**
 * What accounts are granted and what they have used of it, from RBAC's objects and the API server's audit
 * log. Pure.
 */
import type { KubeObject, PolicyRule } from '../../../kube/resource.ts';

/** One verb on one resource, of one name or of any. `resource` is `pods` or, of a subresource, `pods/log`. */
export type Right = { group: string; resource: string; verb: string; name?: string };

type Binding = KubeObject & {
  roleRef: { kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string }[];
};
type RoleObject = KubeObject & { rules?: PolicyRule[] | null };
export type RbacObject = Binding | RoleObject;

/** What of an audit event matters here. */
type AuditEvent = {
  verb: string;
  user: { username: string };
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string; name?: string };
  responseStatus?: { code?: number };
  annotations?: Record<string, string>;
};

/** `get secrets/smtp`, `create workflows.windlass.dev/execute`: for people, and for lists of exceptions. */
export function describeRight({ group, resource, verb, name }: Right): string {
  const [kind = '', subresource] = resource.split('/');
  const full = group === '' ? kind : `${kind}.${group}`;
  return `${verb} ${full}${subresource === undefined ? '' : `/${subresource}`}${name === undefined ? '' : ` ${name}`}`;
}

/**
 * All that the bindings grant to service accounts of this name, in whatever namespace they are; each right
 * once.
 */
export function grantedTo(account: string, objects: readonly RbacObject[]): Right[] {
  const roles = objects.filter((object): object is RoleObject => object.kind.endsWith('Role'));
  const bindings = objects.filter((object): object is Binding => object.kind.endsWith('RoleBinding'));
  const own = bindings.filter(({ subjects = [] }) =>
    subjects.some(({ kind, name }) => kind === 'ServiceAccount' && name === account),
  );
  const rules = own.flatMap(({ roleRef, metadata }) =>
    roles
      .filter(
        (role) =>
          role.kind === roleRef.kind &&
          role.metadata.name === roleRef.name &&
          (role.kind === 'ClusterRole' || role.metadata.namespace === metadata.namespace),
      )
      .flatMap((role) => role.rules ?? []),
  );
  const rights = rules.flatMap(rightsOf);
  return [...new Map(rights.map((right) => [describeRight(right), right])).values()];
}

/** The rule, right by right. */
function rightsOf({ apiGroups, resources, verbs, resourceNames }: PolicyRule): Right[] {
  const names = resourceNames ?? [undefined];
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({ group, resource, verb, ...(name !== undefined && { name }) })),
      ),
    ),
  );
}

/** What service accounts of this name were allowed to do and did, from lines of an audit log. */
export function usedBy(account: string, lines: readonly string[]): Right[] {
  const used = new Map<string, Right>();
  for (const line of lines) {
    if (!line.includes(`:${account}"`)) continue;
    for (const right of rightsUsed(JSON.parse(line) as AuditEvent, account))
      used.set(describeRight(right), right);
  }
  return [...used.values()];
}

function rightsUsed(event: AuditEvent, account: string): Right[] {
  const { user, objectRef: object, verb, responseStatus, annotations = {} } = event;
  const isOwn = user.username.startsWith('system:serviceaccount:') && user.username.endsWith(`:${account}`);
  const isAllowed = annotations['authorization.k8s.io/decision'] === 'allow';
  if (!isOwn || !isAllowed || object?.resource === undefined) return [];
  const resource =
    object.subresource === undefined ? object.resource : `${object.resource}/${object.subresource}`;
  const right = {
    group: object.apiGroup ?? '',
    resource,
    ...(object.name !== undefined && { name: object.name }),
  };
  // An apply that makes the object takes both rights, and is written down as a patch.
  const verbs = verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
  return verbs.map((each) => ({ ...right, verb: each }));
}

/** Those of the granted rights that no use needed. */
export function unused(granted: readonly Right[], used: readonly Right[]): Right[] {
  return granted.filter((right) => !used.some((use) => covers(right, use)));
}

function covers(granted: Right, use: Right): boolean {
  const isSame =
    granted.group === use.group && granted.resource === use.resource && granted.verb === use.verb;
  return isSame && (granted.name === undefined || granted.name === use.name);
}

/** Those that grant more than they name. */
export function wildcards(granted: readonly Right[]): Right[] {
  return granted.filter(({ group, resource, verb }) =>
    [group, resource, verb].some((part) => part.includes('*')),
  );
}
