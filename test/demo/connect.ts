/**
 * The account of an example that a person connects in the browser: the demo asks for the link, follows it and
 * signs in.
 */
import { connectAtGoogle, linkToConnect, whenConnected } from '../support/installation/demoGoogle.ts';
import { tokenCommand } from '../support/installation/installedGateway.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import type { Demo } from './runs.ts';

const ACCOUNT = 'ada';

/**
 * Connects the credential, each time again, since the demo's Google forgets what was allowed when it starts
 * again.
 */
export async function showConnecting({ cluster, gateway, project, tell }: Demo, name: string): Promise<void> {
  const token = (await kubectl(cluster, tokenCommand('editor', 'windlass'))).trim();
  tell();
  tell(
    `the credential ${name} is an account that a person connects. Somebody who may edit it asks for a link:`,
  );
  tell(`  POST ${gateway.internalURL}/credentials/${project}.${name}/connect`);
  const account = await whenConnected(cluster, project, name, async () => {
    const link = await linkToConnect(gateway, `${project}.${name}`, token);
    tell(`  ${link}`);
    tell(
      `opens it in a browser, goes on to Google (that of the demo), signs in as ${ACCOUNT} and allows the access:`,
    );
    const page = await connectAtGoogle(cluster, link, ACCOUNT);
    tell(`  ${sentencesOf(page.text)}`);
    if (page.status !== 200) throw new Error(`the page should have come with 200, not with ${page.status}`);
  });
  tell(`the status of the credential says whose account it is: ${account}`);
}

/** The heading and the last paragraph of a page of the gateway. Throws if it has none. */
export function sentencesOf(page: string): string {
  const [, title] = /<h1>(.*?)<\/h1>/.exec(page) ?? [];
  const text = [...page.matchAll(/<p>(.*?)<\/p>/g)].at(-1)?.[1];
  if (title === undefined || text === undefined) throw new Error(`the page has no text: ${page}`);
  return `${title}. ${text}`;
}
