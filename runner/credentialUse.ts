/**
 * Records the uses of credentials in the audit trail: once per attempt of a node, at the first use.
 */
import type { Audit } from '../api/audit/audit.ts';
import type { CredentialSpec } from '../api/credential.ts';
import { admitsURL, allowedHostsOf } from '../api/hosts.ts';
import type { CredentialAccess } from '../nodes/contract/node.ts';
import { SMTP_PORT } from '../nodes/providers/smtp/delivery.ts';
import type { StepFields } from '../nodes/step.ts';
import type { CredentialSource } from './credentials.ts';

/** One attempt of a node. */
export type Attempted = { run: string; workflow: string; node: string; attempt: number; fields: StepFields };

/** Called for each use, with the credential that the attempt got. */
export type OnCredentialUse = (attempted: Attempted, credential: CredentialAccess) => void;

/** Records uses of credentials of this namespace. */
export function createUseRecorder(audit: Audit, namespace: string): OnCredentialUse {
  return ({ run, workflow, node, attempt, fields }, { name, uid, spec }) =>
    audit.record({
      event: 'credential.use',
      ...(isHostDenied(spec, fields)
        ? { result: 'denied', reason: 'host-not-allowed' }
        : { result: 'allowed' }),
      object: { namespace, name, uid },
      run,
      workflow,
      node,
      attempt,
      host: destinationOf(spec, fields),
    });
}

/** The credentials for one attempt. Reports the first use of each. */
export function reportingUses(
  credentials: CredentialSource,
  attempted: Attempted,
  onUse: OnCredentialUse | undefined,
): CredentialSource {
  if (onUse === undefined) return credentials;
  const reported = new Set<string>();
  return {
    ...credentials,
    get: async (name) => {
      const credential = await credentials.get(name);
      if (!reported.has(name)) onUse(attempted, credential);
      reported.add(name);
      return credential;
    },
  };
}

/**
 * Whether the credential does not allow the host of the step's URL: then the step fails before anything is
 * sent.
 */
export function isHostDenied(spec: CredentialSpec, { parameters }: StepFields): boolean {
  const { url } = (parameters ?? {}) as { url?: unknown };
  if (typeof url !== 'string' || !URL.canParse(url) || !(spec.http ?? spec.oauth2)) return false;
  return !admitsURL(allowedHostsOf(spec), new URL(url));
}

/**
 * The destination of the credential with its port, as far as it is known in advance: the host of the step's
 * URL, or that of the credential.
 */
export function destinationOf(spec: CredentialSpec, { parameters }: StepFields): string | undefined {
  const { url } = (parameters ?? {}) as { url?: unknown };
  const { smtp, openai, anthropic, s3, bot, oauth2 } = spec;
  if (smtp) return mailServer(smtp);
  const named = openai?.baseURL ?? anthropic?.baseURL ?? s3?.endpoint ?? bot?.apiURL ?? oauth2?.apiURL;
  return hostAndPort(typeof url === 'string' ? url : (named ?? ''));
}

function mailServer({ host, tls = 'StartTLS', port = SMTP_PORT[tls] }: NonNullable<CredentialSpec['smtp']>) {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function hostAndPort(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port } = new URL(address);
  return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`;
}
