/**
 * Records requests in the audit trail, with the client's address and the request ID that problems and the
 * access log share.
 */
import type { IncomingMessage } from 'node:http';
import type { AuditEvent } from '../../api/audit/events.ts';
import type { AuditEntry, AuditResult } from '../../api/audit/line.ts';
import type { Right } from '../contract/operation.ts';
import type { GatewayDeps } from './deps.ts';
import { requestId } from '../http/requestId.ts';

export type AuditDeps = Pick<GatewayDeps, 'audit' | 'limits'>;

/** Records the outcome of a request. */
export function recordCall(
  { audit, limits }: AuditDeps,
  raw: IncomingMessage,
  entry: Omit<AuditEntry, 'address' | 'request'>,
): void {
  const address = limits.addresses.addressOf(raw.socket.remoteAddress, raw.headers['x-forwarded-for']);
  audit.record({ ...entry, address, request: requestId(raw) });
}

/** Codes of problems and of sign-in pages. */
const DENIED: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'token-refused',
  'not-the-console',
  'misdirected-request',
  'workflow-suspended',
  'auth-required',
  'kube-path-refused',
  'link-unknown',
  'not-begun',
  'denied',
  'no-token',
  'not-accepted',
]);

/**
 * The result for a code: `denied` if the caller is unknown or lacks a right, or a suspension or policy
 * refuses the run; otherwise `failed`.
 */
export function auditResult(reason: string): { result: AuditResult; reason: string } {
  return { result: DENIED.has(reason) ? 'denied' : 'failed', reason };
}

const EVENTS: Record<string, AuditEvent> = {
  'create workflows': 'run.execute',
  'delete workflowruns': 'run.cancel',
  'list workflowruns': 'run.list',
  'update credentials': 'credential.link',
};

/** The event of a call that needs this right. */
export function eventOf({ verb, resource, on }: Right, query: unknown): AuditEvent {
  if (verb === 'delete' && on === 'namespace') return 'memory.delete';
  const event = EVENTS[`${verb} ${resource}`] ?? 'run.read';
  const isTest = (query as { test?: unknown } | undefined)?.test === 'true';
  return event === 'run.execute' && isTest ? 'run.test' : event;
}
