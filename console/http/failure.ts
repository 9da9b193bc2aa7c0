/** Failures of HTTP calls as text: what happened and what to do. */
import { isRecord } from '../../api/record.ts';

/** One problem of an object, as the API server reports it. */
export type Cause = { field: string; message: string };

export class ApiFailure extends Error {
  /** 0: no response. */
  readonly status: number;
  readonly title: string;
  /** What to do, or the message of the server. */
  readonly detail: string;
  /** A stable name: the type of a problem, or the reason of a Kubernetes Status. */
  readonly reason: string;
  readonly causes: Cause[];

  constructor(parts: { status: number; title: string; detail: string; reason: string; causes?: Cause[] }) {
    super(`${parts.title}: ${parts.detail}`);
    this.name = 'ApiFailure';
    this.status = parts.status;
    this.title = parts.title;
    this.detail = parts.detail;
    this.reason = parts.reason;
    this.causes = parts.causes ?? [];
  }
}

/** The failure of a response: a problem (RFC 9457), a Kubernetes Status, or anything else. */
export function failureOf(status: number, body: unknown): ApiFailure {
  if (isRecord(body)) {
    if (body['kind'] === 'Status') return failureOfStatus(status, body);
    if (typeof body['title'] === 'string')
      return new ApiFailure({
        status,
        title: body['title'],
        detail: textOf(body['detail']),
        reason: textOf(body['type']).split('/').at(-1) ?? '',
      });
  }
  return new ApiFailure({
    status,
    title: `The server responded with ${status}`,
    detail:
      ADVICE[status] ?? 'Try again. If it fails again, ask an administrator to check the log of the gateway.',
    reason: 'unexpected',
  });
}

const FOREIGN = 'The response may come from a proxy or a sign-in page in front of Windlass. Reload the page.';

/** Advice for responses that are neither a problem nor a Status: usually a proxy's. */
const ADVICE: Record<number, string> = {
  200: FOREIGN,
  403: FOREIGN,
  404: FOREIGN,
  413: 'The request is too large. Make it smaller, or ask an administrator to raise the limit of the proxy in front of Windlass.',
  429: 'Too many requests. Wait a moment and try again.',
};

export function failureOfNetwork(): ApiFailure {
  return new ApiFailure({
    status: 0,
    title: 'Windlass cannot be reached',
    detail: 'Check your network (or the port-forward, if you use one). The console tries again by itself.',
    reason: 'unreachable',
  });
}

/** The failure of any thrown value. */
export function failureFrom(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiFailure({
    status: -1,
    title: 'Something went wrong in the console',
    detail,
    reason: 'console',
  });
}

const TITLES: Record<string, string> = {
  Forbidden: 'You are not allowed to do this',
  NotFound: 'Not found',
  AlreadyExists: 'The name already exists',
  Conflict: 'Someone else changed it in the meantime',
  Invalid: 'Invalid',
  BadRequest: 'Bad request',
  Expired: 'The list expired',
  TooManyRequests: 'Too many requests',
};

const READING = /cannot (?:get|list|watch) resource/;

function titleOf(reason: string, message: string): string {
  if (reason === 'Forbidden' && READING.test(message)) return 'You are not allowed to see this';
  return TITLES[reason] ?? 'The API server rejected the request';
}

function failureOfStatus(status: number, body: Record<string, unknown>): ApiFailure {
  const reason = textOf(body['reason']);
  const details = isRecord(body['details']) ? body['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  const message = textOf(body['message']);
  return new ApiFailure({
    status,
    title: titleOf(reason, message),
    detail: message,
    reason,
    causes: causes
      .filter(isRecord)
      .map((cause) => ({ field: textOf(cause['field']), message: textOf(cause['message']) })),
  });
}

/** The longest value that a message repeats. */
const LONGEST_VALUE = 80;

/** A message of the API server, which repeats the refused value, without the rest of a long value. */
export function withoutLongValues(message: string): string {
  return message.replaceAll(/"(?:\\.|[^"\\])*"/gs, (value) =>
    value.length <= LONGEST_VALUE ? value : `${value.slice(0, LONGEST_VALUE)}…"`,
  );
}

/** What to do, without the problems that are listed beside it, each with its field. */
export function detailBeside({ detail, causes }: ApiFailure): string {
  const subject = causes.length > 1 ? /^.*? is invalid(?=: )/s.exec(detail)?.[0] : undefined;
  return subject === undefined ? withoutLongValues(detail) : `${subject}:`;
}

const MISSING = /cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/;

/** The permission that RBAC misses, such as `list workflows.windlass.dev in shop`, if the message says it. */
export function missingPermission({ detail }: ApiFailure): string | undefined {
  const [, verb, resource, group = '', namespace] = MISSING.exec(detail) ?? [];
  if (verb === undefined || resource === undefined) return undefined;
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  const [kind, ...parts] = resource.split('/');
  const subresource = parts.map((part) => `/${part}`).join('');
  return `${verb} ${kind}${group === '' ? '' : `.${group}`}${subresource}${where}`;
}

/** The failure in one paragraph: of several problems the first. */
export function paragraphOf({ title, detail, causes }: ApiFailure): string {
  const [first, ...others] = causes;
  if (first === undefined || others.length === 0) return `${title}. ${withoutLongValues(detail)}`;
  const more = others.length === 1 ? 'one more problem' : `${others.length} more problems`;
  return `${title}. ${first.field}: ${withoutLongValues(first.message)}, and ${more}.`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
