/**
 * An IMAP server (RFC 3501) that says what a test has it say: for what real servers do at odd moments, and
 * for those that mean harm. It takes every login, and has one mailbox.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

export type ImapAnswer = {
  /** What is sent before the end of the answer; it may go on for ever. */
  lines?: Iterable<string>;
  /** Default `OK done`; null: the answer never ends. */
  end?: string | null;
};

export type ImapScript = {
  port: number;
  /** The commands so far, without tags. */
  commands: string[];
  close(): Promise<void>;
};

/** `answer`: to a command without its tag; undefined: as an empty mailbox has it. */
export async function startImapScript(
  answer: (command: string) => ImapAnswer | undefined,
): Promise<ImapScript> {
  const sockets = new Set<Socket>();
  const commands: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.setNoDelay();
    socket.write('* OK ready\r\n');
    createInterface(socket).on('line', (line) => {
      const [tag = '', ...words] = line.split(' ');
      const command = words.join(' ');
      commands.push(command);
      const { lines = [], end = 'OK done' } = answer(command) ?? usual(command);
      Readable.from(lines)
        .on('end', () => end !== null && socket.write(`${tag} ${end}\r\n`))
        .pipe(socket, { end: false });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function usual(command: string): ImapAnswer {
  if (command === 'CAPABILITY') return { lines: ['* CAPABILITY IMAP4rev1\r\n'] };
  if (command.startsWith('EXAMINE')) return opened(0);
  return {};
}

/** What opening a mailbox answers that has so many mails, with UIDs from 1 on. */
export function opened(mails: number): ImapAnswer {
  const next = `* OK [UIDNEXT ${mails + 1}] next\r\n`;
  return { lines: [`* ${mails} EXISTS\r\n`, '* OK [UIDVALIDITY 7] valid\r\n', next] };
}

/** A value as a literal (RFC 3501 section 4.3). */
export function literal(text: string): string {
  return `{${Buffer.byteLength(text)}}\r\n${text}`;
}
