/**
 * The scopes that connecting a credential requests, and those that the account did not grant. Pure but for
 * reading caches.
 */
import type { Credential } from '../../api/kinds.ts';
import { providerOf } from '../../api/provider.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { scopesFor } from '../../nodes/scopes.ts';
import { BY_CREDENTIAL, inNamespaceOf, type Caches } from '../shared/caches.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';

/** The limits of the schema of the status. */
const MOST_SCOPES = 64;

/** The requested scopes: those of the provider, of the credential, and of the workflows that name it. */
export function requestedScopes({ workflows }: Pick<Caches, 'workflows'>, credential: Credential): string[] {
  const { oauth2 } = credential.spec;
  if (!oauth2) return [];
  const needed = neededScopes({ workflows }, credential);
  const all = [...providerOf(oauth2).scopes, ...(oauth2.scopes ?? []), ...needed];
  return [...new Set(all)].slice(0, MOST_SCOPES);
}

/** The scopes that the workflows that name the credential need, each once, sorted. */
export function neededScopes({ workflows }: Pick<Caches, 'workflows'>, credential: Credential): string[] {
  const users = workflows.byIndex(BY_CREDENTIAL, inNamespaceOf(credential, credential.metadata.name));
  const needed = users.flatMap(({ spec }) => scopesNeededBy(spec, credential));
  return [...new Set(needed)].toSorted();
}

/** The scopes that the nodes of a workflow with the credential need. */
function scopesNeededBy(spec: WorkflowSpec, { metadata, spec: of }: Credential): string[] {
  return credentialRefs(spec)
    .filter(({ name }) => name === metadata.name)
    .flatMap(({ scopes }) => scopesFor(scopes, of));
}

const READ_ONLY = '.readonly';
const GRAPH = 'https://graph.microsoft.com/';
const DRIVE = 'https://www.googleapis.com/auth/drive';
/** Scopes that the scopes for all files, and for reading them, include. */
const IN_DRIVE: Readonly<Record<string, readonly string[]>> = {
  [`${DRIVE}.file`]: [DRIVE],
  [`${DRIVE}.metadata.readonly`]: [DRIVE, `${DRIVE}.readonly`],
};

/**
 * The scopes that were not granted. At Google a scope includes its `.readonly` scope. At Microsoft
 * `ReadWrite` includes `Read`, and `.All` includes the scope for the account's own files.
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

/**
 * Microsoft returns scopes of Graph with or without their prefix
 * (https://learn.microsoft.com/entra/identity-platform/scopes-oidc).
 */
function nameOf(scope: string): string {
  return scope.startsWith(GRAPH) ? scope.slice(GRAPH.length) : scope;
}

function wider(name: string): string[] {
  const all = name.endsWith('.All') ? [name] : [name, `${name}.All`];
  return [...all, ...all.map((each) => each.replace('.Read', '.ReadWrite'))];
}
