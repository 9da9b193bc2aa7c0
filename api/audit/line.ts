/**
 * The format of the audit trail. A line is one JSON object in printable ASCII, whatever names it holds, and
 * its length is bounded: each text is cut, and only the first groups of a user are listed. Pure.
 */
import { AUDIT_EVENTS, type AuditEvent } from './events.ts';

/** The `name` of each line, which distinguishes the trail from the other logs of a program. */
export const AUDIT_LOGGER = 'windlass.audit';

type AuditUser = { username: string; uid?: string; groups?: readonly string[] };

type AuditObject = {
  /** Left out: the kind of the event. */
  kind?: string;
  namespace?: string | undefined;
  name?: string | undefined;
  uid?: string | undefined;
};

/**
 * `denied`: the caller is not authenticated or lacks a permission, the workflow is suspended, or its webhook
 * must verify callers. `failed`: it was allowed but did not happen.
 */
export type AuditResult = 'allowed' | 'denied' | 'failed';

/** What a program knows about an event. Holds no payload, secret or token. */
export type AuditEntry = {
  event: AuditEvent;
  result: AuditResult;
  /** Why it was denied or failed, or the previous value: a code, never a text from outside. */
  reason?: string | undefined;
  /** Left out: unknown. */
  user?: AuditUser | undefined;
  /** The address of the peer, or of the client that trusted proxies name. */
  address?: string | undefined;
  object?: AuditObject | undefined;
  /** The ID of the request: `instance` of its problem. */
  request?: string | undefined;
  /** The run that was started, or that used a credential. */
  run?: string | undefined;
  retryOf?: string | undefined;
  workflow?: string | undefined;
  node?: string | undefined;
  attempt?: number | undefined;
  host?: string | undefined;
  method?: 'token' | 'link' | 'oidc' | undefined;
  /** The field manager of the last change, if the user is unknown. */
  manager?: string | undefined;
  /** Helps to find the request in the audit log of the Kubernetes API. */
  resourceVersion?: string | undefined;
  count?: number | undefined;
};

/** The members that every line of a program has. */
export type AuditSource = { program: 'gateway' | 'operator' | 'runner'; pod: string };

const MAX_TEXT = 256;
const MAX_NAME = 512;
const MAX_GROUPS = 20;

/** The line, with its line break. */
export function auditLine(source: AuditSource, at: Date, entry: AuditEntry): string {
  const { event, user, object, result, reason, address, request, run, ...rest } = entry;
  const definition: { verb: string; kind?: string } = AUDIT_EVENTS[event];
  const { kind = definition.kind, namespace, name, uid } = object ?? {};
  return printable({
    level: result === 'allowed' ? 'info' : 'warn',
    time: at.toISOString(),
    name: AUDIT_LOGGER,
    program: source.program,
    pod: cut(source.pod),
    event,
    verb: definition.verb,
    user: user && userOf(user),
    address: cut(address),
    object: kind && { kind: cut(kind), namespace: cut(namespace), name: cut(name), uid: cut(uid) },
    result,
    reason: cut(reason),
    request: cut(request),
    run: cut(run),
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, cut(value)])),
  });
}

function userOf({ username, uid, groups = [] }: AuditUser): object {
  const left = groups.length - MAX_GROUPS;
  return {
    name: cut(username, MAX_NAME),
    uid: cut(uid),
    groups: groups.slice(0, MAX_GROUPS).map((group) => cut(group)),
    ...(left > 0 && { groupsLeftOut: left }),
  };
}

/** Cuts a text that is too long and marks the cut with `…`. */
function cut<T>(value: T, limit = MAX_TEXT): T | string {
  return typeof value === 'string' && value.length > limit ? `${value.slice(0, limit - 1)}…` : value;
}

/**
 * JSON that stays one line in every reader: line separators, control characters and characters that change
 * the direction of text are escaped, so that no name can forge a line or hide a part of one. Parsing it gives
 * the same value.
 */
export function printable(fields: object): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(fields).replaceAll(/[^\x20-\x7e]/g, escape)}\n`;
}
