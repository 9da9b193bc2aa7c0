/**
 * `POST /credentials/{credential}/connect`: creates a one-time link for a caller who may `update` the
 * credential. Whoever opens the link signs in at the provider, whose answer goes to `GET /oauth/callback`.
 */
import type { FastifyInstance } from 'fastify';
import { type Credential, CREDENTIAL } from '../../api/kinds.ts';
import { connectionOf, providerOf } from '../../api/provider.ts';
import { isUnavailable } from '../../store/connection.ts';
import { CONNECT_MS, hashOf, storeLink, newSecret, readKey, type Link } from '../../store/oauth/states.ts';
import { createAnswers, JSON_TYPE, type Answers, type Exchange } from '../http/answers.ts';
import { recordCall, auditResult } from '../endpoint/audit.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Admitted } from '../endpoint/admit.ts';
import { GROUP, VERSION } from '../../api/group.ts';
import type { KubeClient } from '../../kube/client.ts';
import { namespacedResource } from '../../kube/resource.ts';
import { addEndpoints } from '../endpoint/route.ts';

export function addConnectRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'connect');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.connectCredential,
      handleAdmitted: (exchange, admitted) => connect(deps, answers, exchange, admitted),
    },
  ]);
}

async function connect(
  deps: GatewayDeps,
  answers: Answers,
  { request, reply }: Exchange,
  { namespace, name, caller }: Admitted,
): Promise<void> {
  const credential = await credentialOf(deps, namespace, name);
  const made =
    typeof credential === 'string' ? credential : await makeLink(deps, credential, caller.username);
  const uid = typeof credential === 'string' ? undefined : credential.metadata.uid;
  recordCall(deps, request.raw, {
    event: 'credential.link',
    user: caller,
    object: { namespace, name, uid },
    ...(typeof made === 'string' ? auditResult(made) : { result: 'allowed' }),
  });
  if (typeof made === 'string') return answers.problem(reply, made);
  reply.header('cache-control', 'no-store');
  answers.send(reply, 201, JSON_TYPE, JSON.stringify(made));
}

async function credentialOf(
  deps: GatewayDeps,
  namespace: string,
  name: string,
): Promise<Credential | ProblemCode> {
  try {
    const credential = await findCredential(deps, namespace, name);
    if (credential === undefined || credential.metadata.deletionTimestamp !== undefined)
      return 'credential-unknown';
    const { oauth2 } = credential.spec;
    return oauth2 && URL.canParse(providerOf(oauth2).authorizationURL) ? credential : 'not-connectable';
  } catch (error) {
    deps.log.warn({ err: error }, 'reading a credential failed');
    return 'cluster-unavailable';
  }
}

async function makeLink(
  { runs, publicURL }: GatewayDeps,
  credential: Credential,
  user: string,
): Promise<{ url: string; expires: string } | ProblemCode> {
  const key = await readKey(runs);
  // Without these nobody could exchange the provider's code for tokens.
  if (publicURL === undefined || key === undefined || isUnavailable(key)) return 'connect-unavailable';
  const secret = newSecret();
  const endsAt = Date.now() + CONNECT_MS;
  const kept = await storeLink(runs, secret, linkOf(credential, { user, publicURL, endsAt }));
  if (isUnavailable(kept)) return 'connect-unavailable';
  if (kept.outcome === 'too-many') return 'too-many-links';
  return { url: `${publicURL}/oauth/connect/${secret}`, expires: new Date(endsAt).toISOString() };
}

type LinkParts = { user: string; publicURL: string; endsAt: number };

/** The authorization request without state and challenge, which belong to one browser. */
function linkOf({ metadata, spec, status }: Credential, { user, publicURL, endsAt }: LinkParts): Link {
  const { oauth2 } = spec;
  if (!oauth2) throw new Error('only credentials of kind oauth2 can be connected');
  const provider = providerOf(oauth2);
  const redirectURI = `${publicURL}/oauth/callback`;
  // The operator adds the scopes that workflows need, and may not have seen the last change of the credential
  // yet.
  const scopes = [...new Set([...provider.scopes, ...(oauth2.scopes ?? []), ...(status?.scopes ?? [])])];
  const url = new URL(provider.authorizationURL);
  const parameters = {
    ...provider.parameters,
    response_type: 'code',
    client_id: oauth2.clientID,
    redirect_uri: redirectURI,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const { namespace = '', name, uid = '', generation = 0 } = metadata;
  return {
    namespace,
    name,
    uid,
    generation,
    user,
    redirectURI,
    scopes,
    endsAt,
    connection: hashOf(connectionOf(oauth2)),
    authorizationURL: url.href,
    ...(provider.issuer !== undefined && { issuer: provider.issuer }),
    mustNameIssuer: provider.mustNameIssuer,
  };
}

const credentials = namespacedResource<Credential>(GROUP, VERSION, CREDENTIAL.kind, CREDENTIAL.plural);
/** Short, because a person waits for the answer. */
const OPTIONS = { timeoutMs: 3_000, retries: 1 };

/**
 * Reads a Credential, which contains no secrets, with the gateway's own rights: the caller was authorised
 * before. Throws an ApiError if the API server does not answer.
 */
async function findCredential(
  { client }: { client: Pick<KubeClient, 'find'> },
  namespace: string,
  name: string,
): Promise<Credential | undefined> {
  return client.find(credentials, { namespace, name }, OPTIONS);
}
