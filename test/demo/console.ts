/**
 * The link that the demo ends with: whoever opens it is signed in to the console, as somebody who may edit
 * the namespace of the examples: for an hour, which is how long the token lasts.
 */
import { tokenCommand } from '../support/installation/installedGateway.ts';
import { gatewayPorts, windlassNamespace } from '../support/installation/install.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import type { Demo } from './runs.ts';

/** Where the console is said to be on a cluster whose gateway has no port here. */
const FORWARDED = 'http://127.0.0.1:8081';

/** Asks the gateway for a one-time link and tells it. Throws when there is none. */
export async function showConsole({ cluster, gateway, tell }: Demo): Promise<void> {
  const args = tokenCommand('you');
  const token = (await kubectl(cluster, args)).trim();
  const response = await fetch(`${gateway.internalURL}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status !== 201)
    throw new Error(`POST /console/links answered ${response.status}: ${await response.text()}`);
  const { url } = (await response.json()) as { url: string };
  const isHere = gatewayPorts(cluster) !== undefined;
  tell();
  tell(
    'Next, in your browser: open this link. Runs shows what happened, New workflow builds one of yours. The link works once, within ten minutes, and signs you in for an hour:',
  );
  tell();
  if (!isHere) {
    tell(`  kubectl port-forward -n ${windlassNamespace} service/windlass-gateway-internal 8081:http &`);
  }
  tell(`  ${isHere ? url : FORWARDED + new URL(url).pathname}`);
  tell();
  tell('Later, with a token to paste there, which ends after an hour:');
  tell();
  tell(`  ${isHere ? gateway.internalURL : FORWARDED}/console/`);
  tell(`  kubectl ${args.join(' ')}`);
  tell();
}
