/**
 * Delivers one mail to one SMTP server. Every failure is a StepError that tells whether the server may have
 * accepted the mail: not before the first byte of the message; after it only an answer of the server decides
 * (RFC 5321 section 4.2.5).
 */
import { Readable } from 'node:stream';
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import { openSocket } from '../../egress/connect.ts';
import type { Egress } from '../../egress/egress.ts';
import { abortion, inDoubt, type Effect } from '../../contract/node.ts';
import { echoesOf, quoted, type Secret } from '../../contract/secret.ts';
import type { Mailbox } from '../../mail/mailbox.ts';

export type Mail = {
  from: string;
  /** Name and address apart, so that the library parses none of them. */
  to: Mailbox[];
  cc?: Mailbox[] | undefined;
  bcc?: Mailbox[] | undefined;
  replyTo?: Mailbox | undefined;
  subject: string;
  text: string;
  html?: string | undefined;
  messageId: string;
  /** The message that it answers, and those before that in the conversation. */
  inReplyTo?: string | undefined;
  references?: string[] | undefined;
  /** Whether it answers a mail, so that programs tell it from one that was sent of itself. */
  isAnswer?: boolean;
};

export type Account = { smtp: NonNullable<CredentialSpec['smtp']>; password: Secret | undefined };

/** The addresses that the server took and those that it refused. */
export type Delivery = { accepted: string[]; rejected: string[] };

type Connection = InstanceType<typeof import('nodemailer/lib/smtp-connection').default>;

/**
 * How long the server may take to greet. RFC 5321 section 4.5.3.2.1 has five minutes, and servers let
 * strangers wait. Longer than a runner may stand still before another takes over: one that continues finds
 * its timers run out before it reads what has come.
 */
const GREETING_TIMEOUT_MS = 45_000;
/**
 * How long the answer to the message may take (RFC 5321 section 4.5.3.2.6). The step's own timeout is shorter
 * as a rule.
 */
const SOCKET_TIMEOUT_MS = 600_000;
/** The port of a mail server that names none. */
export const SMTP_PORT = { None: 25, StartTLS: 587, TLS: 465 } as const;
/** Answers that mean: log in first, or with something else (RFC 4954 section 6). */
const LOGIN_REFUSED = new Set([530, 534, 535, 538]);

/**
 * Sends the mail.
 * @throws StepError `EffectUnknown` when the message was sent, nothing is known of it, and the effect is
 * `AtMostOnce`
 */
export async function deliver(
  mail: Mail,
  account: Account,
  { egress, signal, effect }: { egress: Egress; signal: AbortSignal; effect: Effect },
): Promise<Delivery> {
  const { envelope, message } = await compose(mail);
  const connection = await open(account.smtp, egress, signal);
  const broken = brokenOff(connection, signal);
  let messageSent = false;
  const stream = streamOf(message, () => {
    messageSent = true;
  });
  try {
    return await Promise.race([broken, converse(connection, account, envelope, stream)]);
  } catch (error) {
    const failure = failureOf(error, account);
    throw messageSent && !isAnswered(error)
      ? inDoubt(effect, failure, 'the mail server may have taken the mail')
      : failure;
  } finally {
    connection.close();
  }
}

/**
 * Connects and logs in, as for a mail, and sends none.
 * @throws StepError
 */
export async function greet(
  account: Account,
  { egress, signal }: { egress: Egress; signal: AbortSignal },
): Promise<void> {
  const connection = await open(account.smtp, egress, signal);
  const broken = brokenOff(connection, signal);
  try {
    await Promise.race([broken, begin(connection, account)]);
    connection.quit();
  } catch (error) {
    throw failureOf(error, account, 'the connection');
  } finally {
    connection.close();
  }
}

/** Rejects when the connection breaks or the signal is aborted. */
function brokenOff(connection: Connection, signal: AbortSignal): Promise<never> {
  return new Promise<never>((_resolve, reject) => {
    connection.on('error', reject);
    signal.addEventListener('abort', () => reject(abortion(signal)), { once: true });
    if (signal.aborted) reject(abortion(signal));
  });
}

type Envelope = { from: string; to: string[]; size: number };

/** The steps of the conversation; each begins when the one before has succeeded. */
async function converse(
  connection: Connection,
  account: Account,
  envelope: Envelope,
  message: Readable,
): Promise<Delivery> {
  await begin(connection, account);
  return promised<Delivery>((done) => connection.send(envelope, message, done));
}

async function begin(connection: Connection, { smtp, password }: Account): Promise<void> {
  await promised((done) => connection.connect(done));
  if (smtp.username === undefined || !password) return;
  const auth = { user: smtp.username, pass: password.reveal() };
  if (!connection.allowsAuth) throw new StepError('CredentialRejected', 'the mail server offers no login');
  await promised((done) => connection.login(auth, done));
}

function promised<T>(start: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

/** The library is loaded with the first mail: most runners never send one. */
async function open(smtp: Account['smtp'], egress: Egress, signal: AbortSignal): Promise<Connection> {
  const { default: SmtpConnection } = await import('nodemailer/lib/smtp-connection');
  const { host, tls = 'StartTLS' } = smtp;
  const port = smtp.port ?? SMTP_PORT[tls];
  return new SmtpConnection({
    host,
    port,
    connection: await openSocket(egress, { host, port, signal }).catch((error: unknown) => {
      throw signal.aborted ? abortion(signal) : error;
    }),
    secure: tls === 'TLS',
    requireTLS: tls === 'StartTLS',
    ignoreTLS: tls === 'None',
    connectionTimeout: GREETING_TIMEOUT_MS,
    greetingTimeout: GREETING_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
  });
}

async function compose({ isAnswer, ...mail }: Mail): Promise<{ envelope: Envelope; message: Buffer }> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composed = new MailComposer({
    ...mail,
    // Tells other programs not to answer (RFC 3834).
    headers: { 'Auto-Submitted': isAnswer ? 'auto-replied' : 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const { from, to } = composed.getEnvelope();
  const message = await composed.build();
  if (!from)
    throw new StepError(
      'InvalidParameters',
      'the sender in the credential is not an email address: correct from',
    );
  return { envelope: { from, to, size: message.length }, message };
}

/**
 * The message as a stream that tells when its first byte is asked for: the server has agreed to take it by
 * then.
 */
function streamOf(message: Buffer, started: () => void): Readable {
  return new Readable({
    read() {
      started();
      this.push(message);
      this.push(null);
    },
  });
}

type SmtpError = {
  code?: string;
  responseCode?: number;
  permanent?: boolean;
  response?: string;
  message: string;
};

/** Whether the server refused in so many words, so that it has not taken the mail. */
function isAnswered(error: unknown): boolean {
  return ((error as SmtpError).responseCode ?? 0) >= 400;
}

function failureOf(error: unknown, { smtp, password }: Account, what = 'the mail'): StepError {
  if (error instanceof StepError) return error;
  const { code, responseCode, permanent, response, message } = error as SmtpError;
  const secrets = password ? echoesOf(password) : [];
  const said = quoted(response ?? message, secrets);
  const options = { cause: error };
  if (code === 'ETLS')
    return new StepError('Unreachable', `TLS failed with the mail server: ${said}`, options);
  if (responseCode === undefined) {
    if (code === 'EENVELOPE')
      return new StepError('InvalidParameters', `the mail cannot be sent: ${said}`, options);
    if (code === 'EAUTH') return new StepError('CredentialRejected', `login failed: ${said}`, options);
    if (code === 'EMESSAGE')
      return new StepError('Refused', `the mail server takes no mail of this size: ${said}`, options);
    return new StepError('Unreachable', `no answer from the mail server ${smtp.host}: ${said}`, options);
  }
  if (LOGIN_REFUSED.has(responseCode)) {
    return new StepError('CredentialRejected', `the mail server refused the login: ${said}`, options);
  }
  if (permanent) return new StepError('Refused', `the mail server refused ${what}: ${said}`, options);
  return new StepError('UpstreamError', `the mail server cannot take ${what} now: ${said}`, options);
}
