/**
 * A real IMAP server of one's own: Debian's dovecot on free ports of 127.0.0.1, in plain text and with TLS,
 * with its own folder, users and passwords. With `tokens` it also takes access tokens (XOAUTH2, OAUTHBEARER),
 * about which it asks an HTTP server.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { runCommand } from '../../process/command.ts';
import { makeFolder } from '../../process/folder.ts';
import { freePort } from '../../process/freePort.ts';
import { pollUntil } from '../../time/poll.ts';

/** That of every user. */
export const IMAP_PASSWORD = 'correct-horse';

export type DovecotOptions = {
  /** PEM of a key and a certificate: then there is a port for TLS, and STARTTLS. */
  tls?: { key: string; cert: string };
  /** Whose access tokens are good, by the user that they are for. */
  tokens?: { introspectionURL: string };
  /** Keeps all mails of a mailbox in one file: then `fill` works. */
  oneFile?: boolean;
  /** Further lines of the configuration. */
  config?: string[];
};

export type Dovecot = {
  port: number;
  tlsPort: number;
  /** A client that is logged in, with which tests change mailboxes. Whoever has the password is a user. */
  client(name: string): Promise<ImapFlow>;
  /** Makes the INBOX of a user of so many small mails. With `oneFile`, before the user's first login. */
  fill(name: string, count: number): void;
  /** Ends every connection and the server; `start` goes on with the same data. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

const START_TIMEOUT_MS = 15_000;
/** Dovecot gives mail to nobody who is root. */
const NOBODY = 65_534;

/** Starts a server and waits until it greets. */
export async function startDovecot(options: DovecotOptions = {}): Promise<Dovecot> {
  const { path: folder, remove } = await makeFolder('dovecot');
  const isRoot = process.getuid?.() === 0;
  const own = (path: string) => isRoot && chownSync(path, NOBODY, NOBODY);
  const [port, tlsPort] = [await freePort(), await freePort()];
  const home = join(folder, 'home');
  const run = join(folder, 'run');
  mkdirSync(home);
  mkdirSync(run);
  own(home);
  if (isRoot) await runCommand('chmod', ['755', folder]);
  writeFiles(folder, { ...options, port, tlsPort, isRoot });
  let child = await launch(folder, port);
  const stop = () => end(child);
  return {
    port,
    tlsPort,
    client: async (name) => {
      const auth = { user: name, pass: IMAP_PASSWORD };
      const client = new ImapFlow({ host: '127.0.0.1', port, doSTARTTLS: false, auth, logger: false });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    fill: (name, count) => {
      const place = join(home, name);
      mkdirSync(place);
      mkdirSync(join(place, 'mail'));
      writeFileSync(
        join(place, 'mail', 'inbox'),
        Array.from({ length: count }, (_, n) => small(n + 1, count)).join(''),
      );
      for (const path of [place, join(place, 'mail'), join(place, 'mail', 'inbox')]) own(path);
    },
    stop,
    start: async () => {
      child = await launch(folder, port);
    },
    close: async () => {
      await stop();
      remove();
    },
  };
}

/** A mail as it stands in a file of mails. */
function small(number: number, count: number): string {
  const lines = [
    'From a@example.com Thu Jan  1 00:00:00 2026',
    'From: a@example.com',
    `Subject: mail ${number}`,
    `Message-ID: <${number}@example.com>`,
    // With its numbers in place the file need not be written again.
    ...(number === 1 ? [`X-IMAPbase: 1 ${String(count).padStart(10, '0')}`] : []),
    `X-UID: ${number}`,
    'Status: O',
    '',
    'text',
    '',
    '',
  ];
  return lines.join('\n');
}

type Settings = DovecotOptions & { port: number; tlsPort: number; isRoot: boolean };

function writeFiles(folder: string, settings: Settings): void {
  const { tls, tokens, oneFile, config = [], port, tlsPort, isRoot } = settings;
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const withTls = tls
    ? ['ssl = yes', `ssl_cert = <${file('cert.pem', tls.cert)}`, `ssl_key = <${file('key.pem', tls.key)}`]
    : ['ssl = no'];
  const withTokens = tokens
    ? [
        'passdb {',
        '  driver = oauth2',
        '  mechanisms = xoauth2 oauthbearer',
        `  args = ${file('oauth2.conf', `introspection_mode = post\nintrospection_url = ${tokens.introspectionURL}\nusername_attribute = username\nactive_attribute = active\nactive_value = true\n`)}`,
        '}',
      ]
    : [];
  const mail = `${join(folder, 'home')}/%u/mail`;
  const me = userInfo().username;
  const withoutRoot = ['default_internal_user', 'default_login_user'].map((name) => `${name} = ${me}`);
  const unconfined = ['imap-login', 'anvil', 'auth', 'stats', 'log'].flatMap((name) => [
    `service ${name} {`,
    '  chroot =',
    '}',
  ]);
  const lines = [
    'protocols = imap',
    `base_dir = ${join(folder, 'run')}`,
    `state_dir = ${join(folder, 'run')}`,
    `log_path = ${join(folder, 'log')}`,
    `instance_name = ${folder.split('-').at(-1)}`,
    'listen = 127.0.0.1',
    'disable_plaintext_auth = no',
    `auth_mechanisms = plain login${tokens ? ' xoauth2 oauthbearer' : ''}`,
    'auth_failure_delay = 0',
    // Nor does it let those wait who come from where somebody failed before.
    'service anvil {',
    '  unix_listener anvil-auth-penalty {',
    '    mode = 0',
    '  }',
    '}',
    'mail_max_userip_connections = 100',
    // One file for all mails is filled in no time, one file for each mail takes more of them in no time.
    `mail_location = ${oneFile ? `mbox:${mail}:INBOX=${mail}/inbox` : `maildir:${mail}`}`,
    'mail_fsync = never',
    'mail_privileged_group =',
    'first_valid_uid = 1',
    ...withTls,
    ...withTokens,
    'passdb {',
    '  driver = static',
    '  mechanisms = plain login',
    `  args = password=${IMAP_PASSWORD}`,
    '}',
    'userdb {',
    '  driver = static',
    `  args = uid=${isRoot ? NOBODY : process.getuid?.()} gid=${isRoot ? NOBODY : process.getgid?.()} home=${join(folder, 'home')}/%u`,
    '}',
    'service imap-login {',
    '  inet_listener imap {',
    `    port = ${port}`,
    '  }',
    '  inet_listener imaps {',
    `    port = ${tls ? tlsPort : 0}`,
    '  }',
    '}',
    ...(isRoot ? [] : [...withoutRoot, ...unconfined]),
    ...config,
    '',
  ];
  file('dovecot.conf', lines.join('\n'));
}

async function launch(folder: string, port: number): Promise<ChildProcess> {
  // Also when this process is killed: the master then ends all others.
  const server = ['--pdeathsig', 'SIGTERM', 'dovecot', '-F', '-c', join(folder, 'dovecot.conf')];
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin`;
  const child = spawn('setpriv', server, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: path },
  });
  const complaints: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  try {
    const greeted = () => !hasEnded(child) && greets(port);
    await pollUntil('dovecot greeting', greeted, { timeoutMs: START_TIMEOUT_MS, everyMs: 20 });
  } catch (error) {
    await end(child);
    throw new Error(`dovecot did not start\n${complaints.join('')}\n${logOf(folder)}`, { cause: error });
  }
  return child;
}

function logOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'log'), 'utf8').slice(-2_000);
  } catch {
    return '';
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once('data', (data) => settle(data.toString().startsWith('* OK')));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
