/** The accounts that the chart's Redis starts with (charts/windlass/files/redis/accounts.sh writes them there). */
import {
  CERTIFICATE_ACCOUNT,
  GATEWAY_ACCOUNT,
  OPERATOR_ACCOUNT,
  serviceAccounts,
} from '../../runs/accounts.ts';

/** The aclfile of a Redis without TLS, with the SHA-256, in hex, of these passwords. */
export function aclFile({ operator, gateway }: { operator: string; gateway: string }): string {
  return serviceAccounts()
    .split('\n')
    .filter((line) => !line.includes(` #${CERTIFICATE_ACCOUNT} `))
    .join('\n')
    .replace(`#${OPERATOR_ACCOUNT}`, `#${operator}`)
    .replace(`#${GATEWAY_ACCOUNT}`, `#${gateway}`);
}
