/**
 * A mail server for the demo and for tests: SMTP (RFC 5321) that keeps every mail in memory, and HTTP to read
 * them. `GET /messages` lists the mails, `DELETE /messages` forgets them, `PUT /fault` with `{"fault": "…"}`
 * makes every mail fail in that way until `DELETE /fault`. A recipient whose local part is the name of a
 * fault fails by itself. `POST /jobs` begins a job, which is done at the third `GET /jobs/<id>`.
 * `GET /parcels?number=<number>` says where a parcel is.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { listen, readBody, sendJson } from '../../network/listen.ts';

/** How a mail can fail: before the message is sent, and after it was. */
const MAIL_FAULTS = [
  'refuse-connection',
  'defer-connection',
  'hang-connection',
  'drop-connection',
  'refuse-sender',
  'defer-sender',
  'hang-sender',
  'drop-sender',
  'refuse',
  'defer',
  'hang',
  'drop',
  'drop-at-data',
  'drop-in-data',
  'refuse-data',
  'defer-data',
  'hang-after-data',
  'drop-after-data',
] as const;
/** At which question a job is done. */
const JOB_IS_DONE_AT = 3;
export type MailFault = (typeof MAIL_FAULTS)[number];

/** A mail as it was received. Header names are in lower case. */
export type ReceivedMail = {
  from: string;
  /** The recipients of the envelope, so also those of Bcc. */
  to: string[];
  subject: string;
  text: string;
  html?: string;
  messageId: string;
  headers: Record<string, string>;
  /** By the wall clock, in milliseconds. */
  at: number;
};

export type MailServerOptions = {
  smtpPort?: number;
  httpPort?: number;
  host?: string;
  /** With both, nobody sends without a login. */
  username?: string;
  password?: string;
  /** PEM of a key and certificate: STARTTLS is offered; with `secure` TLS is spoken from the first byte. */
  tls?: { key: string; cert: string; secure?: boolean };
};

export type MailServer = {
  smtpPort: number;
  httpPort: number;
  /** What was received so far, oldest first; also what a fault dropped after the message was in. */
  messages: ReceivedMail[];
  /** How many clients have connected so far. */
  connections(): number;
  setFault(fault: MailFault | undefined): void;
  close(): Promise<void>;
};

type State = {
  messages: ReceivedMail[];
  fault: MailFault | undefined;
  sockets: Map<number | undefined, Socket>;
  /** What each job was given, and how often it was asked for. */
  jobs: { given: unknown; asked: number }[];
  connections: number;
};

/** Starts it on free ports, unless others are named. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { smtpPort = 0, httpPort = 0, host = '127.0.0.1' } = options;
  const state: State = { messages: [], fault: undefined, sockets: new Map(), jobs: [], connections: 0 };
  const smtp = new SMTPServer(smtpOptions(options, state));
  smtp.on('error', () => undefined);
  smtp.server.on('connection', (socket: Socket) => {
    state.connections += 1;
    state.sockets.set(socket.remotePort, socket);
    socket.once('close', () => state.sockets.delete(socket.remotePort));
  });
  smtp.listen(smtpPort, host);
  await once(smtp.server, 'listening');
  const http = await listen((request, response) => answer(state, request, response), {
    port: httpPort,
    host,
  });
  return {
    smtpPort: (smtp.server.address() as AddressInfo).port,
    httpPort: http.port,
    messages: state.messages,
    connections: () => state.connections,
    setFault: (fault) => {
      state.fault = fault;
    },
    close: async () => {
      for (const socket of state.sockets.values()) socket.destroy();
      await Promise.all([http.close(), new Promise<void>((resolve) => smtp.close(resolve))]);
    },
  };
}

function smtpOptions(options: MailServerOptions, state: State): SMTPServerOptions {
  const { username, password, tls } = options;
  const needsLogin = username !== undefined && password !== undefined;
  return {
    name: 'mail.test',
    disableReverseLookup: true,
    socketTimeout: 120_000,
    closeTimeout: 100,
    authOptional: !needsLogin,
    allowInsecureAuth: true,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(needsLogin ? [] : ['AUTH'])],
    ...tls,
    onAuth: (auth, _session, done) => {
      if (auth.username === username && auth.password === password) done(null, { user: username });
      else done(reply(535, '5.7.8 Username and password not accepted'));
    },
    onConnect: (session, done) => failAt('connection', { session, state, done }),
    onMailFrom: (_address, session, done) => failAt('sender', { session, state, done }),
    onRcptTo: (address, session, done) => {
      const fault = faultOf(address.address, state);
      if (fault === 'hang') return;
      if (fault === 'drop') drop(session, state);
      else if (fault === 'refuse') done(reply(550, '5.1.1 No such mailbox'));
      else if (fault === 'defer') done(reply(451, '4.3.2 Try again later'));
      else done();
    },
    onData: (stream, session, respond) => {
      if (state.fault === 'drop-at-data') {
        drop(session, state);
        return;
      }
      if (state.fault === 'drop-in-data') {
        stream.once('data', () => drop(session, state));
        return;
      }
      receive(stream, session, state)
        .then((fault) => finishData(fault, respond, () => drop(session, state)))
        .catch(respond);
    },
  };
}

type Phase = { session: SMTPServerSession; state: State; done: (error?: Error | null) => void };

/** Fails at a phase in which nobody knows the recipient, as the fault says that is set for all mails. */
function failAt(phase: 'connection' | 'sender', { session, state, done }: Phase): void {
  if (state.fault === `hang-${phase}`) return;
  if (state.fault === `drop-${phase}`) drop(session, state);
  else if (state.fault === `refuse-${phase}`) done(reply(554, '5.7.1 Not from you'));
  else if (state.fault === `defer-${phase}`) done(reply(451, '4.3.2 Try again later'));
  else done();
}

async function receive(
  stream: AsyncIterable<Buffer>,
  session: SMTPServerSession,
  state: State,
): Promise<MailFault | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const to = session.envelope.rcptTo.map(({ address }) => address);
  const fault = state.fault ?? to.map((address) => faultOf(address, state)).find(Boolean);
  if (fault !== 'refuse-data' && fault !== 'defer-data') {
    state.messages.push(await parse(Buffer.concat(chunks), session, to));
  }
  return fault;
}

function finishData(fault: MailFault | undefined, done: (error?: Error) => void, dropIt: () => void): void {
  if (fault === 'hang-after-data') return;
  if (fault === 'drop-after-data') dropIt();
  else if (fault === 'refuse-data') done(reply(554, '5.6.0 Message refused'));
  else if (fault === 'defer-data') done(reply(451, '4.3.0 Try again later'));
  else done();
}

async function parse(raw: Buffer, session: SMTPServerSession, to: string[]): Promise<ReceivedMail> {
  const mail = await PostalMime.parse(raw);
  return {
    from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
    to,
    subject: mail.subject ?? '',
    text: mail.text?.trimEnd() ?? '',
    ...(mail.html === undefined ? {} : { html: mail.html }),
    messageId: mail.messageId ?? '',
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    at: Date.now(),
  };
}

function faultOf(address: string, state: State): MailFault | undefined {
  return state.fault ?? MAIL_FAULTS.find((fault) => address.startsWith(`${fault}@`));
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function drop(session: SMTPServerSession, state: State): void {
  state.sockets.get(session.remotePort)?.destroy();
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /messages') sendJson(response, 200, state.messages);
  else if (route === 'DELETE /messages') {
    state.messages.length = 0;
    response.writeHead(204).end();
  } else if (route === 'PUT /fault') {
    state.fault = (JSON.parse(await readBody(request)) as { fault: MailFault }).fault;
    response.writeHead(204).end();
  } else if (route === 'DELETE /fault') {
    state.fault = undefined;
    response.writeHead(204).end();
  } else if (route === 'POST /jobs') {
    const id = String(state.jobs.push({ given: JSON.parse(await readBody(request)), asked: 0 }));
    sendJson(response, 201, { id, state: 'running' });
  } else if (route.startsWith('GET /jobs/')) answerJob(state, route.slice('GET /jobs/'.length), response);
  else if (route.startsWith('GET /parcels?')) answerParcel(request.url ?? '', response);
  else if (route === 'GET /healthz') response.writeHead(200).end('ok');
  else
    sendJson(response, 404, {
      error:
        'GET or DELETE /messages, PUT or DELETE /fault, POST /jobs, GET /jobs/<id>, GET /parcels?number=<number>, GET /healthz',
    });
}

function answerJob({ jobs }: State, id: string, response: ServerResponse): void {
  const job = jobs[Number(id) - 1];
  if (!job) return sendJson(response, 404, { error: `there is no job ${id}` });
  job.asked += 1;
  if (job.asked < JOB_IS_DONE_AT) return sendJson(response, 200, { id, state: 'running' });
  return sendJson(response, 200, { id, state: 'done', result: job.given });
}

function answerParcel(url: string, response: ServerResponse): void {
  const number = new URL(url, 'http://mail').searchParams.get('number') ?? '';
  if (!/^P-\d+$/.test(number)) return sendJson(response, 404, { error: `there is no parcel ${number}` });
  return sendJson(response, 200, { number, place: 'Hamburg', arrives: 'tomorrow' });
}

async function main(env: Record<string, string | undefined>): Promise<void> {
  const { SMTP_PORT, HTTP_PORT, HOST, SMTP_USERNAME, SMTP_PASSWORD } = env;
  const server = await startMailServer({
    smtpPort: Number(SMTP_PORT ?? 2525),
    httpPort: Number(HTTP_PORT ?? 8025),
    host: HOST ?? '0.0.0.0',
    ...(SMTP_USERNAME && SMTP_PASSWORD ? { username: SMTP_USERNAME, password: SMTP_PASSWORD } : {}),
  });
  console.log(JSON.stringify({ msg: 'mail server listens', smtp: server.smtpPort, http: server.httpPort }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  }
}

if (import.meta.main) await main(process.env);
