/**
 * The internal listener of the gateway, through a connection that the API server forwards: the API server's
 * own proxy would remove the token by which the gateway knows the caller.
 */
import { request, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { pods, type Pod } from '../../kube/resource.ts';
import { forwardPort } from '../../kube/portForward.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import type { Cluster } from './cluster.ts';
import { isPodReady } from './podReady.ts';

const SELECTOR = 'app.kubernetes.io/name=windlass,app.kubernetes.io/component=gateway';

export type GatewayCall = { method: string; path: string; accept: string; lastEventId?: string | undefined };

/**
 * The answer of the gateway, in any status.
 * @throws CommandError if the user has no token, or there is no gateway
 */
export async function callGateway(
  { client, connection, context }: Cluster,
  systemNamespace: string,
  { method, path, accept, lastEventId }: GatewayCall,
): Promise<IncomingMessage> {
  const token = await connection.auth.token?.();
  if (token === undefined || token === '')
    throw unusable(
      `the user of context ${context} has a certificate and no token, and the gateway admits tokens alone: use a context with a token, such as one of kubectl create token`,
    );
  const { items } = await client.list(pods, { namespace: systemNamespace, labelSelector: SELECTOR });
  const pod = items.find(isPodReady);
  const port = pod && portOf(pod);
  if (!pod || port === undefined)
    throw unusable(
      `namespace ${systemNamespace} has no ready gateway: name the namespace of the release with --system-namespace`,
    );
  const to = { namespace: systemNamespace, pod: pod.metadata.name, port: port.number };
  const stream = await forwardPort(connection, to);
  return answerOf(port.isTls ? secured(stream) : stream, { method, path, accept, lastEventId, token });
}

const unusable = (message: string): CommandError => new CommandError(EXIT.cluster, message);

/** The port `internal`, and whether it answers with TLS: then its container has a certificate for it. */
function portOf({ spec }: Pod): { number: number; isTls: boolean } | undefined {
  const container = spec?.containers.find(({ ports }) => ports?.some(({ name }) => name === 'internal'));
  const number = container?.ports?.find(({ name }) => name === 'internal')?.containerPort;
  if (number === undefined) return undefined;
  return { number, isTls: container?.env?.some(({ name }) => name === 'INTERNAL_TLS_DIR') ?? false };
}

/** The API server has found the pod by its name, so that its certificate has nothing to prove. */
function secured(stream: Duplex): Duplex {
  return connect({ socket: stream, rejectUnauthorized: false });
}

function answerOf(
  stream: Duplex,
  { method, path, accept, lastEventId, token }: GatewayCall & { token: string },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    createConnection: () => stream,
    method,
    path,
    headers: {
      host: 'windlass',
      accept,
      authorization: `Bearer ${token}`,
      connection: 'close',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
  });
  sent.on('response', resolve);
  sent.on('error', reject);
  sent.end();
  return promise;
}
