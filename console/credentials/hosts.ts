/** Allowed hosts in the form of a credential: suggestions from the test URL, and validation. Pure. */
import type { CredentialKind, CredentialSpec } from '../../api/credential.ts';
import { admitsURL, allowedHostsOf, hostEntryFor, hostEntryProblem, isHostEntry } from '../../api/hosts.ts';

type Fields = Record<string, unknown>;

/** Adds the host of the test URL as the allowed host until the user enters another. */
export function withSuggestedHosts(kind: CredentialKind, before: Fields, next: Fields): Fields {
  if (kind !== 'http') return next;
  const isUntouched = JSON.stringify(next['allowedHosts'] ?? []) === JSON.stringify(suggested(before));
  return isUntouched ? { ...next, allowedHosts: suggested(next) } : next;
}

/** The problem with the hosts of an account; undefined: none. */
export function hostsProblem(kind: CredentialKind, { allowedHosts }: Fields): string | undefined {
  const given = Array.isArray(allowedHosts) ? allowedHosts.map(String) : [];
  if (kind === 'http' && given.length === 0) return 'Enter at least one host, for example api.example.com';
  const wrong = given.find((text) => !isHostEntry(text));
  return wrong === undefined ? undefined : `"${wrong}": ${hostEntryProblem(wrong)}`;
}

/** The hosts that HTTP requests may send a credential to, as text. */
export function hostsText(spec: CredentialSpec): string {
  const hosts = allowedHostsOf(spec);
  return hosts.length === 0 ? 'None. HTTP requests cannot use this credential.' : hosts.join(', ');
}

function suggested({ checkURL }: Fields): string[] {
  if (typeof checkURL !== 'string' || !URL.canParse(checkURL)) return [];
  const url = new URL(checkURL);
  const entry = hostEntryFor(url);
  return admitsURL([entry], url) ? [entry] : [];
}
