/** The register of checks: one line for each kind of credential. What a check needs is loaded when it is first made. */
import type { CheckResult } from '../api/check.ts';
import { credentialKind, type CredentialKind, type CredentialSpec } from '../api/credential.ts';
import type { CredentialAccess } from './node.ts';
import { resultOf, type Check, type CheckContext } from './check.ts';
import { canUseToken } from './providers/oauth2/userinfo.ts';

type Registered = {
  load: () => Promise<Check>;
  /** Left out: each credential of the kind can be tried. */
  isPossible?: (spec: CredentialSpec) => boolean;
};

const CHECKS: Record<CredentialKind, Registered> = {
  smtp: { load: async () => (await import('./providers/smtp/check.ts')).checkSmtp },
  imap: { load: async () => (await import('./providers/imap/check.ts')).checkImap },
  openai: { load: async () => (await import('./providers/openai/check.ts')).checkOpenai },
  oauth2: {
    load: async () => (await import('./providers/oauth2/check.ts')).checkOauth2,
    isPossible: canUseToken,
  },
  http: {
    load: async () => (await import('./providers/http/check.ts')).checkHttp,
    isPossible: ({ http }) => http?.checkURL !== undefined,
  },
  bot: { load: async () => (await import('./providers/telegram/check.ts')).checkBot },
  s3: { load: async () => (await import('./providers/s3/check.ts')).checkS3 },
};

/** Whether there is anything that a credential can be tried by. */
export function canBeChecked(spec: CredentialSpec): boolean {
  const check = CHECKS[credentialKind(spec)];
  return check.isPossible?.(spec) ?? true;
}

/** Tries the credential. Only a defect is thrown. */
export async function checkCredential(
  credential: CredentialAccess,
  context: CheckContext,
): Promise<CheckResult> {
  const { load } = CHECKS[credentialKind(credential.spec)];
  return resultOf(await load(), credential, context);
}
