/** The condition `HostsAllowed` of a credential: the hosts to which `http_request` may send it. Pure. */
import type { ConditionType, Reason } from '../../api/conditions.ts';
import { credentialKind } from '../../api/credential.ts';
import { allowedHostsOf, constantEntry } from '../../api/hosts.ts';
import type { Credential, Workflow } from '../../api/kinds.ts';
import { removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';

type Finding = {
  status: 'True' | 'False';
  reason: Extract<Reason, 'HostsAllowed' | 'NoAllowedHosts'>;
  message: string;
};
type Named = Pick<Credential, 'metadata' | 'spec'>;

const TYPE = 'HostsAllowed' satisfies ConditionType;
const EXAMPLE = 'api.example.com';
/** Hosts that the suggested command names at most. */
const SUGGESTED = 5;

/**
 * Whether the credential names a host; undefined for other kinds. `used`: entries that admit the URLs of the
 * steps that name it.
 */
export function hostsFinding(credential: Named, used: readonly string[]): Finding | undefined {
  const { http, oauth2 } = credential.spec;
  if (!http && !oauth2) return undefined;
  const hosts = allowedHostsOf(credential.spec);
  if (hosts.length === 0)
    return { status: 'False', reason: 'NoAllowedHosts', message: howToAdd(credential, used) };
  const scheme = hosts.every((host) => host.includes('://'))
    ? ''
    : ' Entries without a scheme admit https only.';
  const message = `http_request may send it to ${hosts.join(', ')}.${scheme}`;
  return { status: 'True', reason: 'HostsAllowed', message };
}

/** The conditions with `HostsAllowed`. The same list if nothing changed. */
export function withHosts(
  list: readonly Condition[],
  credential: Named,
  used: readonly string[],
  now: Date,
): readonly Condition[] {
  const finding = hostsFinding(credential, used);
  if (!finding) return removeCondition(list, TYPE);
  const { generation = 0 } = credential.metadata;
  return setCondition(list, { type: TYPE, observedGeneration: generation, ...finding }, now);
}

/** The entries for the constant hosts at which the steps of workflows use the credential of that name. */
export function usedHosts(workflows: readonly Pick<Workflow, 'spec'>[], credential: string): string[] {
  const refs = workflows.flatMap(({ spec }) => credentialRefs(spec));
  const entries = refs.flatMap(({ name, hostEntry }) =>
    name === credential && hostEntry ? [hostEntry] : [],
  );
  return [...new Set(entries)].toSorted();
}

function howToAdd({ metadata: { namespace = '', name }, spec }: Named, used: readonly string[]): string {
  const kind = credentialKind(spec);
  const what = spec.http
    ? 'No host may receive it, so no step can use it.'
    : 'http_request may send the access token to no host; triggers and other skills use it as before.';
  const hosts = used.length > 0 ? used.slice(0, SUGGESTED) : [exampleFor(spec)];
  const patch = JSON.stringify({ spec: { [kind]: { allowedHosts: hosts } } });
  return `${what} Add the hosts, for example: kubectl -n ${namespace} patch credentials.windlass.dev ${name} --type merge -p '${patch}'`;
}

/** The host of its check or API, if it can be an entry. */
function exampleFor({ http, oauth2 }: Credential['spec']): string {
  return constantEntry(http?.checkURL ?? oauth2?.apiURL) ?? EXAMPLE;
}
