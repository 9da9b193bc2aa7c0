/** What to do about a store that cannot be reached, as far as its answers show. Pure. */
import type { ClusterProblem } from '../clusterView.ts';
import type { LocateProblem } from '../sentinel.ts';
import { isDistrust } from '../trust.ts';

type Side = 'source' | 'target';

/** A server without TLS does not answer a handshake, and one with TLS ends a connection without one. */
const TLS_MISMATCH = /ECONNRESET|ETIMEDOUT|EPROTO/;

/** Why a connection failed, and what to do if the error shows it. */
export function describeConnectionError(
  error: Error,
  { side, isTLS }: { side: Side; isTLS: boolean },
): string {
  const { message } = error;
  const option = side === 'source' ? '--from' : '--to';
  // The server's own text describes a command of the protocol.
  if (message.startsWith('NOAUTH'))
    return `it requires a password (NOAUTH). Set ${option}-password-file, and ${option}-user unless the account is default`;
  if (message.startsWith('WRONGPASS')) return `${message} Check ${option}-user and ${option}-password-file`;
  if (isDistrust(error))
    return `${message}. Check its certificate, and the authorities of ${option}-ca (docs/security.md#tls)`;
  if (/ENOTFOUND|EAI_AGAIN/.test(message))
    return `${message}. Names of Services are known inside the Kubernetes cluster alone: execute the command in a pod (docs/operations.md)`;
  if (!TLS_MISMATCH.test(message)) return message;
  return isTLS
    ? `${message}. If the ${side} does not use TLS, use redis in its URL instead of rediss`
    : `${message}. If the ${side} requires TLS, use rediss in its URL instead of redis`;
}

/** Why the sentinels of a URL name no primary, and what to do. */
export function describeSentinelProblem(problem: LocateProblem, { isTLS }: { isTLS: boolean }): string {
  const advice: Record<LocateProblem, string> = {
    'too few sentinels answer': `more than half of those in the URL must. Check their addresses, and that this machine reaches them${isTLS ? ' with TLS' : ''}`,
    'sentinels do not know the primary': 'check the name at the end of the path of the URL',
    'sentinels refuse the question':
      'the URL must name the ports of sentinels, usually 26379, which answer without a password',
    'sentinels disagree about the primary': 'wait until a failover has ended, and call the command again',
  };
  return `${problem}: ${advice[problem]}`;
}

/** Why a server of a URL does not describe its Redis Cluster, and what to do. */
export function describeClusterProblem(problem: ClusterProblem): string {
  const advice: Record<ClusterProblem, string> = {
    'no server answers': 'check its address',
    'servers belong to no cluster': 'it is a single server: use redis://host:port, or add it to the cluster',
    'servers refuse the question': 'the account needs CLUSTER INFO and CLUSTER SLOTS',
    'cluster is down': 'repair it (redis-cli --cluster check host:port)',
  };
  return `${problem}: ${advice[problem]}`;
}
