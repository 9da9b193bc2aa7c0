/** Authorises the caller of a route about a workflow, a credential or a namespace. */
import type { FastifyRequest } from 'fastify';
import { GROUP, parseWorkflowId, workflowId } from '../../api/group.ts';
import type { Answers, Exchange } from '../http/answers.ts';
import { eventOf, recordCall, auditResult } from './audit.ts';
import type { ProblemCode } from '../contract/problems.ts';
import type { Right } from '../contract/operation.ts';
import type { GatewayDeps } from './deps.ts';
import type { Decision, CallerCredentials, Wanted } from '../access/access.ts';
import type { Identity } from '../access/identity.ts';

export const REFUSALS = {
  unauthorized: 'unauthorized',
  forbidden: 'forbidden',
  'too-often': 'too-many-calls',
  unavailable: 'cluster-unavailable',
} as const satisfies Record<Exclude<Decision, 'allowed'>, ProblemCode>;

const UNKNOWN = {
  workflow: 'workflow-unknown',
  run: 'workflow-unknown',
  namespace: 'workflow-unknown',
  credential: 'credential-unknown',
} as const satisfies Record<Right['on'], ProblemCode>;

type Admitting = Pick<GatewayDeps, 'access' | 'accessLog' | 'audit' | 'limits'>;

/** The workflow, credential or namespace that the path names. A namespace has an empty name. */
export type Addressed = { namespace: string; name: string };
/** The same, with the authorised caller. */
export type Admitted = Addressed & { caller: Identity };

/**
 * Authorises the caller; undefined if it was refused, with the answer sent. A refusal does not reveal whether
 * the object exists, since RBAC decides by namespace and name alone.
 */
export async function admit(
  deps: Admitting,
  answers: Answers,
  { request, reply }: Exchange,
  right: Right,
): Promise<Admitted | undefined> {
  const addressed = addressedObject(request);
  const wanted = addressed && wantedOf(right, addressed, request);
  const { decision, identity } = await deps.access.authorize(callerCredentials(deps, request), wanted);
  if (decision === 'allowed' && addressed !== undefined && identity !== undefined) {
    if (right.resource !== 'credentials') noteWorkflow(deps, request, addressed);
    return { ...addressed, caller: identity };
  }
  // An invalid name gets 404 from every authenticated caller.
  const isNothing = decision === 'allowed' || (addressed === undefined && decision === 'forbidden');
  const code = isNothing ? UNKNOWN[right.on] : REFUSALS[decision];
  recordCall(deps, request.raw, {
    event: eventOf(right, request.query),
    ...(decision === 'forbidden' ? { result: 'denied', reason: code } : auditResult(code)),
    user: identity,
    ...(wanted && { object: { namespace: wanted.namespace, name: wanted.name || undefined } }),
    ...(right.resource === 'workflowruns' && { workflow: addressed?.name || undefined }),
  });
  answers.problem(reply, code, missingRight(code, wanted));
  return undefined;
}

/** Notes the workflow for the access log, if the path names one. */
function noteWorkflow(
  { accessLog }: Admitting,
  { raw }: Exchange['request'],
  { namespace, name }: Addressed,
): void {
  if (name !== '') accessLog?.note(raw, { workflow: workflowId(namespace, name) });
}

/**
 * The right that a refused caller lacks, as in a Role, and the command that checks it. It is the same whether
 * or not the object exists.
 */
export function missingRight(code: ProblemCode, wanted: Wanted | undefined): { more?: string } {
  if (code !== 'forbidden' || wanted === undefined) return {};
  const { verb, resource, subresource, namespace } = wanted;
  const what = `${resource}.${GROUP}`;
  const sub = subresource === undefined ? '' : `/${subresource}`;
  const option = subresource === undefined ? '' : ` --subresource=${subresource}`;
  const ask = `kubectl auth can-i ${verb} ${what}${option} -n ${namespace}`;
  return {
    more: `Missing: verb ${verb} on ${what}${sub} in namespace ${namespace}. Check it with: ${ask}`,
  };
}

/** The caller's Authorization header and address. */
export function callerCredentials(
  { limits }: Pick<GatewayDeps, 'limits'>,
  { raw }: Pick<FastifyRequest, 'raw'>,
): CallerCredentials {
  const { headers, socket } = raw;
  const address = limits.addresses.clientOf(socket.remoteAddress, headers['x-forwarded-for']);
  return { authorization: headers.authorization, address };
}

function wantedOf(
  { on, ...right }: Right,
  { namespace, name }: Addressed,
  { params }: FastifyRequest,
): Wanted {
  const { run = '' } = params as { run?: string };
  return { ...right, namespace, name: { workflow: name, credential: name, run, namespace: '' }[on] };
}

function addressedObject({ params }: FastifyRequest): Addressed | undefined {
  const { id, credential, namespace } = params as { id?: string; credential?: string; namespace?: string };
  if (namespace !== undefined) return isLabel(namespace) ? { namespace, name: '' } : undefined;
  // IDs of workflows and credentials have the same form.
  const parsed = parseWorkflowId(id ?? credential ?? '');
  return parsed && isName(parsed.namespace) && isName(parsed.name)
    ? { namespace: parsed.namespace, name: parsed.name }
    : undefined;
}

/** Whether the text is a valid name of a namespace, a label of RFC 1123. */
function isLabel(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
}

/** Whether the text is a valid object name, and so safe in a path of the Kubernetes API. */
export function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);
}
