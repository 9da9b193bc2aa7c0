/**
 * A connection with an IMAP server (RFC 3501, RFC 9051): to an address that the egress admits, with TLS as the account says,
 * logged in, with one mailbox opened for reading. Every failure is a PollError in words.
 */
import type { ImapFlow, ImapFlowError, ImapFlowOptions, SearchObject, SearchReturnOption } from 'imapflow';
import { StepError } from '../../api/reasons.ts';
import { lookupOf } from '../egress/connect.ts';
import type { Egress } from '../egress/egress.ts';
import { quoted } from '../node.ts';
import { PollError, type PollReason } from '../poller.ts';
import { echoesOf, type Secret } from '../secret.ts';

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
/** What one answer may have: more than is ever asked for, and little enough for a hostile server, or a mail of a million parts. */
const ANSWER_LIMIT = 4_194_304;
const LITERAL_LIMIT = 3_145_728;
const LINE_LIMIT = 393_216;

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

const losses = new WeakMap<ImapFlow, ImapFlowError>();

/** What the connection was lost by; undefined where it was not, or nobody knows. */
export function lossOf(client: ImapFlow): ImapFlowError | undefined {
  return losses.get(client);
}

/** The library is loaded with the first look: most runners never read mail. */
async function connect(account: ImapAccount, egress: Egress, signal: AbortSignal): Promise<ImapFlow> {
  const addresses = await egress.resolve(account.host.replace(/^\[(.*)\]$/, '$1'), account.port);
  signal.throwIfAborted();
  const { ImapFlow } = await import('imapflow');
  const client = new ImapFlow({ ...optionsOf(account), tls: { lookup: lookupOf(addresses) } });
  // Commands under way fail with the loss of the connection alone; what it was lost by comes here.
  client.on('error', (error) => losses.set(client, error));
  const stop = () => client.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw error;
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
 * To be asked wherever the library gives nothing: it does so of a lost connection, too, where it must not be taken for an empty answer.
 * @throws Error by which the connection was lost
 */
export function mustBeOpen(client: ImapFlow): undefined {
  if (client.usable && client.mailbox) return undefined;
  throw lossOf(client) ?? new PollError('Unreachable', 'the connection with the mail server was lost');
}

/** The UIDs that the search finds; with `MIN` the least of them, from a server that can say it. */
export async function searchMailbox(
  client: ImapFlow,
  query: SearchObject,
  returnOptions: SearchReturnOption[] = [],
): Promise<number[]> {
  const found = await client.search(query, { uid: true, returnOptions });
  mustBeOpen(client);
  if (!found) throw new PollError('UpstreamError', 'the mail server could not search the mailbox');
  if (Array.isArray(found)) return found;
  return found.min === undefined ? [] : [found.min];
}

/** Opens a mailbox without changing anything in it. */
export async function openMailbox(client: ImapFlow, path: string) {
  try {
    return await client.mailboxOpen(path, { readOnly: true });
  } catch (error) {
    const { mailboxMissing, responseStatus, responseText } = error as ImapFlowError;
    if (!mailboxMissing && responseStatus !== 'NO') throw error;
    const said = responseText ? `: ${quoted(responseText, [])}` : '';
    throw new PollError(
      'MailboxMissing',
      `the account has no mailbox named ${quoted(path, [])} that can be opened${said}`,
      { cause: error },
    );
  }
}

function failureOf(error: unknown, account: ImapAccount, signal: AbortSignal): Error {
  if (error instanceof PollError || error instanceof StepError) return error;
  if (signal.aborted) {
    return signal.reason instanceof Error ? signal.reason : new PollError('Timeout', 'the look was stopped');
  }
  // A defect of ours is no answer of a server.
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

function judge(error: ImapFlowError): { reason: PollReason; text: string } {
  const { code = '', authenticationFailed, serverResponseCode = '', tlsFailed, responseStatus } = error;
  if (BUSY.has(serverResponseCode) || code === 'ETHROTTLE' || BUSY_WORDS.test(saidBy(error)))
    return { reason: 'RateLimited', text: 'asked to wait by the mail server' };
  if (authenticationFailed) return { reason: 'Rejected', text: 'the login was refused by the mail server' };
  if (tlsFailed || TLS_CODE.test(code)) return { reason: 'Unreachable', text: 'no TLS with the mail server' };
  if (code.endsWith('TooLarge') || code.startsWith('ParserError') || code === 'InvalidResponse')
    return { reason: 'InvalidAnswer', text: 'an answer that cannot be read came from the mail server' };
  if (responseStatus) return { reason: 'UpstreamError', text: 'an error came from the mail server' };
  return { reason: 'Unreachable', text: 'no connection with the mail server' };
}
