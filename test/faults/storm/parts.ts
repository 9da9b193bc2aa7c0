/** What the harnesses of programs on this machine share: links, a connection past them, and tokens. */
import type { PolicyRule } from '../../../kube/resource.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { createUser, tokenOf } from '../../support/cluster/users.ts';
import { TESTER, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { startLink, type Link } from './link.ts';
import { createClosers, START_MS, type Closers, type Links } from './programs.ts';

/** How the tests reach a run store themselves. */
export type DirectAccess = { url: string; username: string; password: string };

/** What `open` starts. If it fails, what it has started is closed again. */
export async function openOrClose<T>(open: (closers: Closers) => Promise<T>): Promise<T> {
  const closers = createClosers();
  try {
    return await open(closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Ways of their own to the run store and the API server for each program. */
export async function startLinks({ redis, server }: OperatorHarness, closers: Closers): Promise<Links> {
  const linkTo = async (port: number): Promise<Link> => {
    const link = await startLink(port);
    closers.add(() => link.close());
    return link;
  };
  const both = async () => ({
    redis: await linkTo(redis.port),
    apiserver: await linkTo(Number(new URL(server.url).port)),
  });
  return { gateway: await both(), operator: await both(), runner: await both() };
}

/**
 * To the run store itself, past all links; default: that of the harness, as an account that may do
 * everything.
 */
export async function connectDirectly(
  { redis }: OperatorHarness,
  closers: Closers,
  name: string,
  store: DirectAccess = { url: redis.url, username: TESTER, password: TESTER },
): Promise<RunStoreConnection> {
  const direct = connectRunStore({ ...store, name });
  closers.add(() => direct.close());
  await direct.ready(AbortSignal.timeout(START_MS));
  return direct;
}

/** The token of a new user of the namespace with these rights to objects of Windlass. */
export async function tokenOfUser(
  { client, server }: OperatorHarness,
  user: { namespace: string; name: string },
  { resources, verbs }: Pick<PolicyRule, 'resources' | 'verbs'>,
): Promise<string> {
  const rules = [{ apiGroups: ['windlass.dev'], resources, verbs }];
  const created = await createUser(client, server.connection, { ...user, rules });
  await created.close();
  return tokenOf(client, user.namespace, user.name);
}
