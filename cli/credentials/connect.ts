/** `windlass connect`. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { callGateway } from '../cluster/gateway.ts';
import { withCluster } from '../cluster/cluster.ts';
import { credentials } from '../../operator/shared/resources.ts';
import { problemText } from '../cluster/problem.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';

/** The program of each system that opens an address in the browser. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** Prints the one-time link that connects a credential, and with `--open` opens it in the browser. */
export async function execute(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [name = ''] = invocation.values;
  const { open, systemNamespace } = invocation.options as { open?: boolean; systemNamespace: string };
  return withCluster(invocation, async (cluster) => {
    const { spec } = await cluster.client.get(credentials, { namespace: cluster.namespace, name });
    if (!spec.oauth2)
      throw new CommandError(
        EXIT.failed,
        `credential ${name} is not of kind oauth2: it has nothing to connect. Check it with windlass check ${name}`,
      );
    const path = `/credentials/${cluster.namespace}.${encodeURIComponent(name)}/connect`;
    const answer = await callGateway(cluster, systemNamespace, {
      method: 'POST',
      path,
      accept: 'application/json',
    });
    const body = await text(answer);
    if (answer.statusCode !== 201)
      throw new CommandError(EXIT.cluster, `the gateway refuses: ${problemText(body, answer.statusCode)}`);
    const { url, expires } = JSON.parse(body) as { url: string; expires: string };
    terminal.print(url);
    terminal.tell(`Open this link to sign in. It works once, until ${expires}.`);
    if (open === true) openInBrowser(url);
    return EXIT.ok;
  });
}

/** A machine without a browser has the link on the screen. */
function openInBrowser(url: string): void {
  const opener = OPENERS[process.platform];
  if (opener === undefined) return;
  spawn(opener, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
