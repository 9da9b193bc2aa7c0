/** Checks credentials by the provider that they lead to. */
import type { CheckResult } from '../api/check.ts';
import { credentialKind, type CredentialSpec } from '../api/credential.ts';
import { resultOf, type CheckContext } from './contract/check.ts';
import type { CredentialAccess } from './contract/node.ts';
import { findProvider } from './providers/register.ts';

/** Whether the credential can be checked. */
export function canBeChecked(spec: CredentialSpec): boolean {
  const provider = findProvider(spec, 'check');
  return provider !== undefined && (provider.canCheck?.(spec) ?? true);
}

/** Checks the credential. Throws only what is a defect. */
export async function checkCredential(
  credential: CredentialAccess,
  context: CheckContext,
): Promise<CheckResult> {
  const provider = findProvider(credential.spec, 'check');
  if (!provider) throw new Error(`no provider checks credentials of kind ${credentialKind(credential.spec)}`);
  return resultOf(await provider.check(), credential, context);
}
