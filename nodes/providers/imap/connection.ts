/**
 * Connections to IMAP servers (RFC 3501, RFC 9051). Guarantees that the address is allowed by the egress,
 * that TLS is as the account requires, that mailboxes are opened read-only, and that answers are bounded.
 * Every failure is a PollError.
 */
import type {
  FetchMessageObject,
  FetchQueryObject,
  ImapFlow,
  ImapFlowError,
  ImapFlowOptions,
  MailboxObject,
  SearchObject,
} from 'imapflow';
import { StepError } from '../../../api/reasons.ts';
import { lookupOf } from '../../egress/connect.ts';
import type { Egress } from '../../egress/egress.ts';
import { PollError, type PollReason } from '../../contract/poller.ts';
import { echoesOf, quoted, type Secret } from '../../contract/secret.ts';

export type ImapAccount = {
  host: string;
  port: number;
  tls: 'None' | 'StartTLS' | 'TLS';
  username: string;
  /** A password, or the access token of OAuth (XOAUTH2, RFC 7628). */
  secret: Secret;
  kind: 'password' | 'token';
};

export const IMAP_PORT = { None: 143, StartTLS: 143, TLS: 993 } as const;
const CONNECT_TIMEOUT_MS = 10_000;
/** Servers let strangers wait. */
const GREETING_TIMEOUT_MS = 30_000;
const SOCKET_TIMEOUT_MS = 60_000;
/**
 * What one answer may have: more than is ever asked for, and little enough for a hostile server, or a mail of
 * a million parts. Of a line the library makes objects that take some hundred times its room.
 */
const LITERAL_LIMIT = 524_288;
const LINE_LIMIT = 131_072;
const ANSWER_LIMIT = LITERAL_LIMIT + LINE_LIMIT;
/** What may come for one command: a server can say ever more without ending its answer. */
const COMMAND_LIMIT = 8_388_608;
const GUARD_MS = 50;

/**
 * Calls the work with a connection that is closed afterwards, also when the signal is aborted.
 * @throws PollError
 */
export async function withImap<T>(
  account: ImapAccount,
  { egress, signal }: { egress: Egress; signal: AbortSignal },
  work: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  let client: ImapFlow | undefined;
  const stop = () => client?.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    client = await connect(account, egress, signal);
    return await work(client);
  } catch (error) {
    throw failureOf((client && lossOf(client)) ?? error, account, signal);
  } finally {
    signal.removeEventListener('abort', stop);
    client?.close();
  }
}

const losses = new WeakMap<ImapFlow, ImapFlowError | PollError>();

/** What the connection was lost by; undefined where it was not, or nobody knows. */
export function lossOf(client: ImapFlow): ImapFlowError | PollError | undefined {
  return losses.get(client);
}

/** Closes a connection on which more comes for one command than anybody asks for. */
function guard(client: ImapFlow, host: string): void {
  const timer = setInterval(() => {
    if (client.stats().received <= COMMAND_LIMIT) return;
    losses.set(client, new PollError('InvalidAnswer', `the mail server ${host} sent an endless answer`));
    client.close();
  }, GUARD_MS);
  client.once('close', () => clearInterval(timer));
}

/** The library is loaded with the first poll: most runners never read mail. */
async function connect(account: ImapAccount, egress: Egress, signal: AbortSignal): Promise<ImapFlow> {
  const addresses = await egress.resolve(account.host.replace(/^\[(.*)\]$/, '$1'), account.port);
  signal.throwIfAborted();
  const { ImapFlow } = await import('imapflow');
  const client = new ImapFlow({ ...optionsOf(account), tls: { lookup: lookupOf(addresses) } });
  // Commands under way fail with the loss of the connection alone; what it was lost by comes here.
  client.on('error', (error) => losses.set(client, error));
  guard(client, account.host);
  const stop = () => client.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw lossOf(client) ?? error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function optionsOf({ host, port, tls, username, secret, kind }: ImapAccount): ImapFlowOptions {
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port,
    secure: tls === 'TLS',
    // StartTLS is never given up for plain text.
    ...(tls === 'TLS' ? {} : { doSTARTTLS: tls === 'StartTLS' }),
    auth: {
      user: username,
      ...(kind === 'token' ? { accessToken: secret.reveal() } : { pass: secret.reveal() }),
    },
    // Some servers let nobody in who does not say what it is (RFC 2971).
    clientInfo: { name: 'Windlass' },
    logger: false,
    disableAutoIdle: true,
    // A few bytes must not become a gigabyte.
    disableCompression: true,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: GREETING_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    maxLiteralSize: LITERAL_LIMIT,
    maxLineLength: LINE_LIMIT,
    maxResponseSize: ANSWER_LIMIT,
  };
}

/**
 * To be asked wherever the library gives nothing: it does so of a lost connection, too, where it must not be
 * taken for an empty answer.
 * @throws Error by which the connection was lost
 */
export function mustBeOpen(client: ImapFlow): undefined {
  if (client.usable && client.mailbox) return undefined;
  throw lossOf(client) ?? new PollError('Unreachable', 'the connection to the mail server was lost');
}

/** The UIDs that the search finds: at most so many. */
export async function searchMailbox(client: ImapFlow, query: SearchObject, most: number): Promise<number[]> {
  client.stats(true);
  if (client.mailbox) boundExists(client.mailbox, most);
  const found = await client.search(query, { uid: true });
  mustBeOpen(client);
  if (!found) throw new PollError('UpstreamError', 'the mail server could not search the mailbox');
  return found;
}

/**
 * A search can be answered with a range (RFC 4731), of which the library takes no more than there are mails.
 * How many there are is the server's word.
 */
function boundExists(mailbox: MailboxObject, most: number): void {
  let { exists } = mailbox;
  Object.defineProperty(mailbox, 'exists', {
    configurable: true,
    get: () => Math.min(exists, most),
    set: (count: number) => {
      exists = count;
    },
  });
}

/**
 * What the server says of these mails, by their UIDs. It may speak of others in between, or of their flags
 * alone, as when somebody reads one in that moment (RFC 3501 section 7.4.2): that answers nothing.
 */
export async function fetchMails(
  client: ImapFlow,
  uids: readonly number[],
  query: FetchQueryObject,
): Promise<Map<number, FetchMessageObject>> {
  const asked = new Set(uids);
  const found = new Map<number, FetchMessageObject>();
  client.stats(true);
  for await (const mail of client.fetch(uids.join(','), query, { uid: true }))
    if (asked.has(mail.uid)) found.set(mail.uid, { ...found.get(mail.uid), ...mail });
  mustBeOpen(client);
  return found;
}

/** What the server says of the mail; undefined where it is not there any more. */
export async function fetchMail(
  client: ImapFlow,
  uid: number,
  query: FetchQueryObject,
): Promise<FetchMessageObject | undefined> {
  return (await fetchMails(client, [uid], query)).get(uid);
}

/** Opens a mailbox without changing anything in it. */
export async function openMailbox(client: ImapFlow, path: string): Promise<MailboxObject> {
  client.stats(true);
  try {
    return await client.mailboxOpen(path, { readOnly: true });
  } catch (error) {
    const { mailboxMissing, responseStatus, responseText } = error as ImapFlowError;
    const isBusy = judge(error as ImapFlowError).reason === 'RateLimited';
    if (isBusy || (!mailboxMissing && responseStatus !== 'NO')) throw error;
    const said = responseText ? `: ${quoted(responseText, [])}` : '';
    throw new PollError(
      'MailboxMissing',
      `the account has no mailbox named ${quoted(path, [])} that can be opened${said}`,
      { cause: error },
    );
  }
}

/**
 * What the server said where it refused a command for good; undefined where the connection was lost, or it
 * asks to wait.
 */
export function refusalOf(error: unknown): string | undefined {
  const { responseStatus } = error as ImapFlowError;
  if (!responseStatus || judge(error as ImapFlowError).reason !== 'UpstreamError') return undefined;
  return quoted(saidBy(error as ImapFlowError), []);
}

function failureOf(error: unknown, account: ImapAccount, signal: AbortSignal): Error {
  if (signal.aborted) {
    return signal.reason instanceof Error ? signal.reason : new PollError('Timeout', 'the poll was stopped');
  }
  if (error instanceof PollError || error instanceof StepError) return error;
  // A bug in this code must not be reported as an error of the server.
  if (error instanceof TypeError || error instanceof ReferenceError) return error;
  const { host, secret } = account;
  const { reason, text } = judge(error as ImapFlowError);
  const said = quoted(saidBy(error as ImapFlowError), echoesOf(secret));
  return new PollError(reason, `${text} ${host}: ${said}`, { cause: error });
}

/** What the server said, or what happened. */
function saidBy({ responseText, response, reason, message, code }: ImapFlowError): string {
  const answered = responseText ?? (typeof response === 'string' ? response : undefined) ?? reason;
  return answered || message || code || 'no answer';
}

const TLS_CODE = /CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|STARTTLS/;
const BUSY = new Set(['LIMIT', 'INUSE', 'UNAVAILABLE', 'THROTTLED', 'OVERQUOTA']);
/** Many servers tell by words alone that they refuse a login for the moment. */
const BUSY_WORDS = /too many|temporar|try again|maximum number of connections|rate limit|throttl/i;

/** What the library says of a server that has no mechanism for the login, such as one without OAuth. */
const NO_MECHANISM = 'Unsupported authentication mechanism';

function judge(error: ImapFlowError): { reason: PollReason; text: string } {
  const { code = '', authenticationFailed, serverResponseCode = '', tlsFailed, responseStatus } = error;
  if (BUSY.has(serverResponseCode) || code === 'ETHROTTLE' || BUSY_WORDS.test(saidBy(error)))
    return { reason: 'RateLimited', text: 'rate limited by the mail server' };
  if (error.message === NO_MECHANISM)
    return { reason: 'Rejected', text: 'no login method of the account is supported by the mail server' };
  if (authenticationFailed) return { reason: 'Rejected', text: 'the login was refused by the mail server' };
  if (tlsFailed || TLS_CODE.test(code))
    return { reason: 'Unreachable', text: 'TLS failed with the mail server' };
  if (code.endsWith('TooLarge') || code.startsWith('ParserError') || code === 'InvalidResponse')
    return { reason: 'InvalidAnswer', text: 'an invalid answer came from the mail server' };
  if (responseStatus) return { reason: 'UpstreamError', text: 'an error came from the mail server' };
  return { reason: 'Unreachable', text: 'cannot connect to the mail server' };
}
