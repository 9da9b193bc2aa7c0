/**
 * Servers that repeat what they were sent, as careless ones do in their errors: as it was, and in every form
 * that they have at hand.
 */
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { listen, type Listening } from '../../network/listen.ts';

/** A text as JSON, URLs, pages, base64 and hex have it. */
function echoes(text: string): string {
  const json = JSON.stringify(text);
  const page = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const bytes = Buffer.from(text);
  const encoded = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
  return [text, json, JSON.stringify(json), encodeURIComponent(text), page, ...encoded].join(' ');
}

/**
 * Answers each request with the status that its path begins with, as in `/500/orders`, and with all that it
 * was sent.
 */
export function startEchoServer(): Promise<Listening> {
  return listen((request, response) => {
    const { url = '', headers, method = '' } = request;
    const status = Number(/^\/(\d{3})/.exec(url)?.[1] ?? 401);
    const login = headers.authorization ?? '';
    const decoded = Buffer.from(login.replace(/^Basic /, ''), 'base64').toString('utf8');
    const query = decodeURIComponent(url.replaceAll('+', ' '));
    const parts = [login, decoded, String(headers['x-key'] ?? ''), url, query];
    const message = parts.map(echoes).join('\n');
    response.setHeader('x-echo', encodeURIComponent(message.slice(0, 1_000)));
    if (status === 302) response.setHeader('location', `http://localhost:1/${encodeURIComponent(query)}`);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message, method } }));
  });
}

/** A mail server that refuses every login with what it was sent. */
export async function startEchoMailServer(): Promise<{ port: number; close(): void }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mail.test ESMTP\r\n');
    socket.on('data', (data) => {
      const line = data.toString().trim();
      if (/^EHLO/i.test(line)) return void socket.write('250-mail.test\r\n250 AUTH PLAIN\r\n');
      const sent = line.replace(/^AUTH PLAIN /i, '');
      const decoded = Buffer.from(sent, 'base64').toString('utf8').split('\0').join(' ');
      const said = `${line} ${echoes(decoded)}`.replaceAll(/[\r\n]+/g, ' ');
      socket.write(`535 5.7.8 refused: ${said}\r\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
