/** The Credentials that an import needs: one for each account of n8n and kind. */
import type { CredentialSpec } from '../../../api/credential.ts';
import { isHostEntry } from '../../../api/hosts.ts';
import { stubOf } from './stubs.ts';
import type { N8nNode } from '../model/n8n.ts';
import { objectNameOf } from '../model/names.ts';

/** Pairs of types that are one account in n8n and two kinds here. */
const IN_N8N: Record<string, string> = { slackBot: 'slackApi' };

type Account = { name: string; type: string; hosts: Set<string> };

export type Accounts = {
  /** The name of the Credential of a node, by the first of the types that it has, or else the first. */
  nameOf: (node: N8nNode, types: readonly string[], host?: string) => string;
  stubs: () => { name: string; spec: CredentialSpec }[];
};

const spaced = (type: string): string =>
  type
    .replace(/^model:/, '')
    .replace(/(?:OAuth2)?(?:Token)?Api$|OAuth2$/, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2');

/** Credentials of one kind with one name are one Credential. */
export function createAccounts(): Accounts {
  const accounts = new Map<string, Account>();
  const taken = new Map<string, string>();
  const nameOf = (node: N8nNode, types: readonly string[], host = ''): string => {
    // Templates have `<your-domain.com>` in its place.
    const hosts = isHostEntry(host) ? [host] : [];
    const own = (type: string) => node.credentials[IN_N8N[type] ?? type.replace(/^model:/, '')];
    const type = types.find((each) => own(each)) ?? types[0] ?? 'httpHeaderAuth';
    const given = own(type)?.name;
    const key = JSON.stringify([type, given]);
    const found = accounts.get(key);
    if (found) {
      hosts.forEach((each) => found.hosts.add(each));
      return found.name;
    }
    const base = objectNameOf(given ?? spaced(type), 'account');
    const name =
      taken.has(base) && taken.get(base) !== key
        ? objectNameOf(`${base}-${spaced(type)}${type.startsWith('model:') ? '-model' : ''}`, 'account')
        : base;
    taken.set(name, key);
    accounts.set(key, { name, type, hosts: new Set(hosts) });
    return name;
  };
  const stubs = () =>
    [...accounts.values()].map(({ name, type, hosts }) => {
      const { spec } = stubOf(name, type);
      const { http } = spec;
      if (!http || hosts.size === 0) return { name, spec };
      const known = (http.allowedHosts ?? []).filter((each) => each !== 'api.example.com');
      return {
        name,
        spec: { http: { ...http, allowedHosts: [...new Set([...known, ...hosts])].slice(0, 20) } },
      };
    });
  return { nameOf, stubs };
}
