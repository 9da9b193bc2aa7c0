/**
 * Audits calls to the Kubernetes API through the gateway: each write, with its user and the API server's
 * status, and each call refused here. Reads, and refusals of the API server, are in its own audit log.
 */
import * as z from 'zod';
import type { AuditEvent } from '../../../api/audit/events.ts';
import { CREDENTIAL, WORKFLOW, WORKFLOW_DRAFT, WORKFLOW_RUN } from '../../../api/kinds.ts';
import { recordCall, auditResult, type AuditDeps } from '../../endpoint/audit.ts';
import { callerCredentials } from '../../endpoint/admit.ts';
import type { Exchange } from '../../http/answers.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import type { AllowedRequest } from './allowlist.ts';
import type { Caller, Callers } from './callers.ts';

const KINDS: Record<string, string> = {
  ...Object.fromEntries(
    [WORKFLOW, WORKFLOW_DRAFT, WORKFLOW_RUN, CREDENTIAL].map(({ plural, kind }) => [plural, kind]),
  ),
  secrets: 'Secret',
};

const EVENTS: Record<string, AuditEvent> = {
  create: 'object.create',
  update: 'object.update',
  patch: 'object.update',
  delete: 'object.delete',
};

const EVENTS_OF_METHODS: Record<string, AuditEvent> = {
  POST: 'object.create',
  PUT: 'object.update',
  PATCH: 'object.update',
  DELETE: 'object.delete',
};

/** The caller, or the problem; a refusal is recorded. */
export async function admitCaller(
  deps: AuditDeps,
  callers: Callers,
  { request }: Exchange,
): Promise<Caller | ProblemCode> {
  const caller = await callers.admit(callerCredentials(deps, request));
  if (typeof caller === 'string') recordRefusal(deps, { request }, { reason: caller });
  return caller;
}

/** Records a call that is not forwarded. */
export function recordRefusal(
  deps: AuditDeps,
  { request: { raw } }: Pick<Exchange, 'request'>,
  { reason, caller }: { reason: ProblemCode; caller?: Caller },
): void {
  const isOfPages = raw.url?.startsWith('/console/') === true;
  const event = (isOfPages ? undefined : EVENTS_OF_METHODS[raw.method ?? '']) ?? 'object.read';
  recordCall(deps, raw, { event, ...auditResult(reason), user: caller?.user });
}

type Write = { asked: AllowedRequest; caller: Caller; body: Uint8Array | undefined; status: number };

/** Records a write that the API server has answered. Reads and dry runs are not recorded. */
export function recordWrite(
  deps: AuditDeps,
  { request }: Exchange,
  { asked, caller, body, status }: Write,
): void {
  const event = EVENTS[asked.verb];
  const kind = KINDS[asked.resource];
  if (event === undefined || kind === undefined || asked.query.has('dryRun')) return;
  const [namespace, , name] = asked.path.split('/namespaces/')[1]?.split('/') ?? [];
  const created = asked.verb === 'create' ? readCreated(body) : undefined;
  const isRefused = status === 401 || status === 403;
  const reason = status < 400 ? {} : { reason: `kubernetes-${status}` };
  recordCall(deps, request.raw, {
    event,
    result: status < 400 ? 'allowed' : isRefused ? 'denied' : 'failed',
    ...reason,
    user: caller.user,
    object: { kind, namespace, name: name ?? created?.metadata.name },
    retryOf: created?.spec?.retryOf,
  });
}

const createdSchema = z.object({
  metadata: z.object({ name: z.string().optional() }),
  spec: z.object({ retryOf: z.string().optional() }).optional().catch(undefined),
});

/** The names in the body of a create. */
function readCreated(body: Uint8Array | undefined): z.infer<typeof createdSchema> | undefined {
  try {
    return createdSchema.safeParse(JSON.parse(Buffer.from(body ?? []).toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
