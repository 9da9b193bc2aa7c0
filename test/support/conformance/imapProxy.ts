/** A proxy to an IMAP server (RFC 3501), which counts the connection and each command as a request. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createFaults } from './requestFaults.ts';
import type { ProviderProxy, Fault } from './provider.ts';

/** Answers to a command, with the codes of RFC 5530. */
const NO: Partial<Record<Fault, string>> = {
  unauthorized: 'NO [AUTHENTICATIONFAILED] Authentication failed.',
  forbidden: 'NO [NOPERM] Permission denied.',
  notFound: 'NO [NONEXISTENT] There is no such mailbox.',
  tooManyRequests: 'NO [LIMIT] Too many commands, slow down.',
  unavailable: 'NO [SERVERBUG] Internal error occurred.',
};
const PIECE = 'x'.repeat(65_536);
/** Of a server for the Web. */
const GARBAGE = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
const COMMAND = /^(\S+) ([A-Za-z]+)/;

/** Starts it, in front of the server at that port. */
export async function startImapProxy(port: number): Promise<ProviderProxy> {
  const sockets = new Set<Socket>();
  const faults = createFaults();
  let taken = 0;

  function pour(client: Socket): void {
    if (client.destroyed) return;
    taken += PIECE.length;
    if (client.write(PIECE)) setImmediate(() => pour(client));
    else client.once('drain', () => pour(client));
  }

  /** Whether the fault has answered in the server's place. */
  function answer(client: Socket, fault: Fault | undefined, tag = '*'): boolean {
    if (fault === undefined) return false;
    if (fault === 'lost') client.destroy();
    else if (fault === 'garbage') client.end(GARBAGE);
    else if (fault === 'endless') pour(client);
    else if (tag === '*' && fault !== 'silence') client.end(`* BYE ${(NO[fault] ?? '').slice(3)}\r\n`);
    else if (fault !== 'silence') client.write(`${tag} ${NO[fault]}\r\n`);
    return true;
  }

  const server = createServer((client) => {
    client.setNoDelay().on('error', () => undefined);
    sockets.add(client);
    client.on('close', () => sockets.delete(client));
    if (answer(client, faults.next(concernsConnection))) return;
    const upstream = connect(port, '127.0.0.1');
    sockets.add(upstream);
    upstream.on('error', () => client.destroy()).on('close', () => sockets.delete(upstream));
    client.on('close', () => upstream.destroy());
    upstream.pipe(client);
    const lines = createInterface(client).on('error', () => undefined);
    lines.on('line', (line) => {
      const [, tag, name = ''] = COMMAND.exec(line) ?? [];
      // What belongs to a command, such as the second half of a login, is not a command.
      const fault = tag === undefined ? undefined : faults.next((each) => concerns(each, name.toUpperCase()));
      if (!answer(client, fault, tag)) upstream.write(`${line}\r\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ...faults.told,
    port: (server.address() as AddressInfo).port,
    takenBytes: () => taken,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function concernsConnection(fault: Fault): boolean {
  return fault !== 'unauthorized' && fault !== 'forbidden' && fault !== 'notFound';
}

/** A login is refused to those who log in, and a mailbox to those who open it. */
function concerns(fault: Fault, command: string): boolean {
  if (command === 'LOGOUT') return false;
  if (fault === 'unauthorized') return command === 'LOGIN' || command === 'AUTHENTICATE';
  if (fault === 'forbidden' || fault === 'notFound') return command === 'EXAMINE';
  return true;
}
