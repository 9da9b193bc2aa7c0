/**
 * The form of a line of the audit trail. A line is one JSON object in printable ASCII, whatever names are in it, and its length is bounded:
 * each text is cut, and of the groups of a user the first ones are named. Pure.
 */
import { AUDIT_EVENTS, type AuditEvent } from './events.ts';

/** The `name` of each line, by which the trail is told from the other logs of a program. */
export const AUDIT_LOGGER = 'windlass.audit';

type AuditUser = { username: string; uid?: string; groups?: readonly string[] };

type AuditObject = {
  /** Left out: the kind of the event. */
  kind?: string;
  namespace?: string | undefined;
  name?: string | undefined;
  uid?: string | undefined;
};

/** `denied`: the caller is unknown or lacks a right, the workflow is suspended, or its webhook must verify callers. `failed`: it was allowed and did not happen. */
export type AuditResult = 'allowed' | 'denied' | 'failed';

/** What a program knows of an event. Never a payload, a secret or a token. */
export type AuditEntry = {
  event: AuditEvent;
  result: AuditResult;
  /** Why it was denied or failed, or what it was before: a code, never a text from outside. */
  reason?: string | undefined;
  /** Left out: not known. */
  user?: AuditUser | undefined;
  /** Of the peer, or of the client that trusted proxies name. */
  address?: string | undefined;
  object?: AuditObject | undefined;
  /** The request: `instance` of its problem. */
  request?: string | undefined;
  /** The run that was started, or that used a credential. */
  run?: string | undefined;
  retryOf?: string | undefined;
  workflow?: string | undefined;
  node?: string | undefined;
  attempt?: number | undefined;
  host?: string | undefined;
  method?: 'token' | 'link' | 'oidc' | undefined;
  /** The field manager of the last change, where the user is not known. */
  manager?: string | undefined;
  /** Finds the request in the audit log of the Kubernetes API. */
  resourceVersion?: string | undefined;
  count?: number | undefined;
};

/** What each line of a program says. */
export type AuditSource = { program: 'gateway' | 'operator' | 'runner'; pod: string };

const MAX_TEXT = 256;
const MAX_NAME = 512;
const MAX_GROUPS = 20;

/** The line, which ends with a line break. */
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

/** A text that is too long keeps its beginning, and shows that there was more. */
function cut<T>(value: T, limit = MAX_TEXT): T | string {
  return typeof value === 'string' && value.length > limit ? `${value.slice(0, limit - 1)}…` : value;
}

/**
 * JSON that stays one line for every reader: line separators, control characters and characters that turn the direction of text are
 * escaped, so that no name can forge a line or hide a part of one. Read as JSON it is unchanged.
 */
export function printable(fields: object): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(fields).replaceAll(/[^\x20-\x7e]/g, escape)}\n`;
}
