/**
 * The demo's Google as people use it: they connect their account in a browser, and work in spreadsheets. It
 * is reached through the API server.
 */
import { createBrowser, signIn, type Page } from '../providers/oauth/browser.ts';
import { forward, type Gateway } from './installedGateway.ts';
import { demoNamespace } from './install.ts';
import { getJson, kubectl, readPath, type ClusterAccess } from '../cluster/kubectl.ts';
import { tokenOf, type Asked } from './connectAccount.ts';
import { pollUntil } from '../time/poll.ts';
import type { Rows } from '../providers/google/sheet.ts';

/** How credentials of the demo name it: only inside the cluster does that lead there. */
export const GOOGLE = `http://google.${demoNamespace}.svc:3000`;
const spreadsheet = (id: string) =>
  `/api/v1/namespaces/${demoNamespace}/services/google:http/proxy/spreadsheets/${id}`;

/** The rows of a spreadsheet. */
export async function rowsOf(cluster: ClusterAccess, id: string): Promise<Rows> {
  return readPath(cluster, spreadsheet(id));
}

/** Adds a row at the end of a spreadsheet. */
export async function addRow(cluster: ClusterAccess, id: string, row: Rows[number]): Promise<void> {
  await kubectl(cluster, ['create', '--raw', spreadsheet(id), '-f', '-'], { input: JSON.stringify(row) });
}

/**
 * Asks, with a token of somebody who may edit the credential `namespace.name`, for the link that connects it.
 */
export async function linkToConnect(gateway: Gateway, credential: string, token: string): Promise<string> {
  const url = `${gateway.internalURL}/credentials/${credential}/connect`;
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { url: string }).url;
}

/**
 * Opens the link in a browser, signs in with that name and allows everything; the page that comes at the end.
 */
export async function connectAtGoogle(cluster: ClusterAccess, link: string, account: string): Promise<Page> {
  const google = await forward(cluster, demoNamespace, 'google', 'sign-in');
  try {
    const browser = createBrowser((url) => url.replace(GOOGLE, google.url));
    return await signIn(browser, link, { account });
  } finally {
    google.close();
  }
}

type Connection = { status?: { account?: string; expires?: string } };

/** Does something that connects the credential, and waits until its status says so; whose account it is. */
export async function whenConnected(
  cluster: ClusterAccess,
  namespace: string,
  name: string,
  connect: () => Promise<unknown>,
): Promise<string> {
  const read = async () =>
    (await getJson<Connection>(cluster, `credentials.windlass.dev/${name}`, '-n', namespace)).status ?? {};
  const before = await read();
  await connect();
  return pollUntil(
    `credential ${name} being connected`,
    async () => {
      const { account, expires } = await read();
      return expires !== before.expires && account;
    },
    { timeoutMs: 30_000, everyMs: 250 },
  );
}

/** How often a person follows a link in vain before giving up. */
const ATTEMPTS = 3;

/**
 * Connects the credential at the demo's Google as a person of that name, who is made and may edit. A login is
 * lost where another operator comes to lead meanwhile: the person connects again, as the documentation says.
 */
export async function connectAsEditor(asked: Asked, person: string): Promise<void> {
  const { cluster, gateway, namespace, credential } = asked;
  const token = await tokenOf(asked, person, ['edit']);
  const connect = async (): Promise<void> => {
    const link = await linkToConnect(gateway, `${namespace}.${credential}`, token);
    await connectAtGoogle(cluster, link, person);
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await whenConnected(cluster, namespace, credential, connect);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
