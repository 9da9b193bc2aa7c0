/** Which rights connecting a credential asks for, and which of them the account has not given. Pure but for reading caches. */
import type { Credential } from '../../api/kinds.ts';
import { providerOf } from '../../api/provider.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { scopesFor } from '../../nodes/scopes.ts';
import { BY_CREDENTIAL, inNamespaceOf, type Caches } from '../shared/caches.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';

/** What the schema of the status holds. */
const MOST_SCOPES = 64;

/** What is asked for: what the provider is always asked, what the credential names, and what the workflows that name it need. */
export function requestedScopes({ workflows }: Pick<Caches, 'workflows'>, credential: Credential): string[] {
  const { oauth2 } = credential.spec;
  if (!oauth2) return [];
  const needed = neededScopes({ workflows }, credential);
  const all = [...providerOf(oauth2).scopes, ...(oauth2.scopes ?? []), ...needed];
  return [...new Set(all)].slice(0, MOST_SCOPES);
}

/** What the workflows need that name the credential, each once, sorted. */
export function neededScopes({ workflows }: Pick<Caches, 'workflows'>, credential: Credential): string[] {
  const users = workflows.byIndex(BY_CREDENTIAL, inNamespaceOf(credential, credential.metadata.name));
  const needed = users.flatMap(({ spec }) => scopesNeededBy(spec, credential));
  return [...new Set(needed)].toSorted();
}

/** What the nodes of a workflow that name the credential need. */
function scopesNeededBy(spec: WorkflowSpec, { metadata, spec: of }: Credential): string[] {
  return credentialRefs(spec)
    .filter(({ name }) => name === metadata.name)
    .flatMap(({ scopes }) => scopesFor(scopes, of));
}

const READ_ONLY = '.readonly';
const GRAPH = 'https://graph.microsoft.com/';
const DRIVE = 'https://www.googleapis.com/auth/drive';
/** What the right to all files includes, and the right to read them. */
const IN_DRIVE: Readonly<Record<string, readonly string[]>> = {
  [`${DRIVE}.file`]: [DRIVE],
  [`${DRIVE}.metadata.readonly`]: [DRIVE, `${DRIVE}.readonly`],
};

/**
 * Those that were not granted. At Google the right to change includes the one to read alone, whose name is the same with an ending. At
 * Microsoft the one to read and write does, and the one for all files includes that for the account's own.
 */
export function missingScopes(needed: readonly string[], granted: readonly string[]): string[] {
  const names = new Set(granted.map(nameOf));
  const isDone = (scope: string): boolean =>
    names.has(nameOf(scope)) ||
    (scope.endsWith(READ_ONLY) && names.has(nameOf(scope.slice(0, -READ_ONLY.length)))) ||
    (IN_DRIVE[scope] ?? []).some((name) => names.has(name)) ||
    (scope.startsWith(GRAPH) && wider(nameOf(scope)).some((name) => names.has(name)));
  return [...new Set(needed)].filter((scope) => !isDone(scope));
}

/** Microsoft tells those of Graph in full or by their names alone (https://learn.microsoft.com/entra/identity-platform/scopes-oidc). */
function nameOf(scope: string): string {
  return scope.startsWith(GRAPH) ? scope.slice(GRAPH.length) : scope;
}

function wider(name: string): string[] {
  const all = name.endsWith('.All') ? [name] : [name, `${name}.All`];
  return [...all, ...all.map((each) => each.replace('.Read', '.ReadWrite'))];
}
