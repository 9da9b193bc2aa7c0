/**
 * The accounts that the chart's Redis starts with (charts/windlass/files/redis/accounts.sh writes them
 * there).
 */
import {
  aclUsers,
  CERTIFICATE_ACCOUNT,
  GATEWAY_ACCOUNT,
  OPERATOR_ACCOUNT,
  type PasswordHashes,
} from '../../../store/accounts.ts';

/** The aclfile of a Redis without TLS, with the SHA-256, in hex, of these passwords. */
export function aclFile({ operatorSha256, gatewaySha256 }: PasswordHashes): string {
  return aclUsers()
    .split('\n')
    .filter((line) => !line.includes(` #${CERTIFICATE_ACCOUNT} `))
    .join('\n')
    .replace(`#${OPERATOR_ACCOUNT}`, `#${operatorSha256}`)
    .replace(`#${GATEWAY_ACCOUNT}`, `#${gatewaySha256}`);
}
