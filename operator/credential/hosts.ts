/** What the condition `HostsAllowed` of a credential says: where `http_request` may send it. Pure. */
import type { ConditionType, Reason } from '../../api/conditions.ts';
import { credentialKind } from '../../api/credential.ts';
import { admitsURL, allowedHostsOf, hostEntryFor } from '../../api/hosts.ts';
import type { Credential } from '../../api/kinds.ts';
import { removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';

type Finding = {
  status: 'True' | 'False';
  reason: Extract<Reason, 'HostsAllowed' | 'NoAllowedHosts'>;
  message: string;
};
type Named = Pick<Credential, 'metadata' | 'spec'>;

const TYPE = 'HostsAllowed' satisfies ConditionType;
const EXAMPLE = 'api.example.com';

/** Whether the credential names a host; undefined for a kind that says itself where it belongs. */
export function hostsFinding(credential: Named): Finding | undefined {
  const { http, oauth2 } = credential.spec;
  if (!http && !oauth2) return undefined;
  const hosts = allowedHostsOf(credential.spec);
  if (hosts.length === 0) return { status: 'False', reason: 'NoAllowedHosts', message: toAdd(credential) };
  const message = `http_request may send it to ${hosts.join(', ')}.`;
  return { status: 'True', reason: 'HostsAllowed', message };
}

/** The conditions with what the credential's hosts are. The same list when nothing changed. */
export function withHosts(list: readonly Condition[], credential: Named, now: Date): readonly Condition[] {
  const finding = hostsFinding(credential);
  if (!finding) return removeCondition(list, TYPE);
  const { generation = 0 } = credential.metadata;
  return setCondition(list, { type: TYPE, observedGeneration: generation, ...finding }, now);
}

function toAdd({ metadata: { namespace = '', name }, spec }: Named): string {
  const kind = credentialKind(spec);
  const what = spec.http
    ? 'No host may receive it, so no step can use it.'
    : 'http_request may send the access token to no host; triggers and other skills use it as before.';
  const patch = JSON.stringify({ spec: { [kind]: { allowedHosts: [exampleFor(spec)] } } });
  return `${what} Name the hosts, for example: kubectl -n ${namespace} patch credentials.windlass.dev ${name} --type merge -p '${patch}'`;
}

/** The host that it is tried at or used at otherwise, if that can be an entry. */
function exampleFor({ http, oauth2 }: Credential['spec']): string {
  const text = http?.checkURL ?? oauth2?.apiURL ?? '';
  if (!URL.canParse(text)) return EXAMPLE;
  const url = new URL(text);
  const entry = hostEntryFor(url);
  return admitsURL([entry], url) ? entry : EXAMPLE;
}
