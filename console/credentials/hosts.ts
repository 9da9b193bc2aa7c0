/** The hosts of a credential in its form: what is suggested from the page to check with, and what is wrong. Pure. */
import type { CredentialKind, CredentialSpec } from '../../api/credential.ts';
import { admitsURL, allowedHostsOf, hostEntryFor, hostEntryProblem, isHostEntry } from '../../api/hosts.ts';

type Fields = Record<string, unknown>;

/** The fields with the host of the page to check with as the allowed one, for as long as nobody has typed another. */
export function withSuggestedHosts(kind: CredentialKind, before: Fields, next: Fields): Fields {
  if (kind !== 'http') return next;
  const isUntouched = JSON.stringify(next['allowedHosts'] ?? []) === JSON.stringify(suggested(before));
  return isUntouched ? { ...next, allowedHosts: suggested(next) } : next;
}

/** What is wrong with the hosts of an account that is to be stored; undefined: nothing. */
export function hostsProblem(kind: CredentialKind, { allowedHosts }: Fields): string | undefined {
  const given = Array.isArray(allowedHosts) ? allowedHosts.map(String) : [];
  if (kind === 'http' && given.length === 0) return 'Enter at least one host, for example api.example.com';
  const wrong = given.find((text) => !isHostEntry(text));
  return wrong === undefined ? undefined : `"${wrong}": ${hostEntryProblem(wrong)}`;
}

/** Where HTTP requests may send a credential. */
export function hostWords(spec: CredentialSpec): string {
  const hosts = allowedHostsOf(spec);
  return hosts.length === 0 ? 'None. HTTP requests cannot use this credential.' : hosts.join(', ');
}

function suggested({ checkURL }: Fields): string[] {
  if (typeof checkURL !== 'string' || !URL.canParse(checkURL)) return [];
  const url = new URL(checkURL);
  const entry = hostEntryFor(url);
  return admitsURL([entry], url) ? [entry] : [];
}
