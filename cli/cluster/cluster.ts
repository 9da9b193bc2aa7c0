/** The cluster that a command talks to: that of the kubeconfig, as the user of its context. */
import { createClient, type KubeClient } from '../../kube/client.ts';
import type { KubeConnection } from '../../kube/config.ts';
import { KubeconfigError, readContext } from '../../kube/kubeconfig.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { explainedError } from './errors.ts';

export type Cluster = {
  client: KubeClient;
  /** The namespace of the command line, of the context, or `default`. */
  namespace: string;
  /** The name of the context. */
  context: string;
  connection: KubeConnection;
};

type ClusterOptions = { namespace?: string; context?: string; kubeconfig?: string };

/** A person waits: a server that does not answer is reported soon. */
const REQUEST = { userAgent: 'windlass-cli', fieldManager: 'windlass-cli', retries: 1 };

/**
 * Opens the cluster for the time of `use`.
 * @throws CommandError if there is no cluster, and for each of its refusals
 */
export async function withCluster<Result>(
  { options, kubeconfig }: Pick<Invocation, 'options' | 'kubeconfig'>,
  use: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const given = options as ClusterOptions;
  const { name, connection } = await contextOf(given, kubeconfig);
  const client = createClient(connection, REQUEST);
  const namespace = given.namespace ?? connection.namespace ?? 'default';
  const cluster = { client, namespace, context: name, connection };
  try {
    return await use(cluster);
  } catch (error) {
    throw explainedError(error, cluster);
  } finally {
    await client.close();
  }
}

async function contextOf(given: ClusterOptions, files: readonly string[]): ReturnType<typeof readContext> {
  try {
    return await readContext(given.kubeconfig === undefined ? files : [given.kubeconfig], given.context);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new CommandError(EXIT.cluster, error.message, { cause: error });
  }
}
