/**
 * A program that is Google to the demo: anybody can sign in and allow access, and the access tokens from
 * there open the spreadsheets. It is the people in front of them, too: `GET /spreadsheets/ID` lists the rows,
 * `PUT` puts a list of rows in their place (or makes the spreadsheet), `POST` adds a row. Each is a list of
 * cells.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';
import { startOAuthProvider } from '../oauth/oauthProvider.ts';
import type { Rows } from './sheet.ts';
import { startSheetsServer, type SheetsServer } from './sheetsServer.ts';

/** What the examples work with. */
const SPREADSHEETS: Readonly<Record<string, Rows>> = {
  orders: [['Number', 'Customer', 'Email', 'Item', 'Quantity']],
  letters: [['File', 'Size', 'Summary']],
  'shop-orders': [
    ['Number', 'Item', 'Price', 'Status', 'Parcel', 'Email'],
    ['A-1001', 'Desk lamp', 39, 'shipped', 'P-2001', 'ada@example.com'],
    ['A-1002', 'Floor lamp', 149, 'packed', '', 'grace@example.com'],
  ],
};

async function main(env: Record<string, string | undefined>): Promise<void> {
  const { ISSUER: issuer = '', REDIRECT_URI: redirectURI = '', HOST: host = '0.0.0.0' } = env;
  const { SIGN_IN_PORT = '3000', API_PORT = '8081', DESK_PORT = '8082' } = env;
  const provider = await startOAuthProvider({
    redirectURI,
    at: { host, port: Number(SIGN_IN_PORT), issuer },
  });
  const { admits } = provider;
  const sheets = await startSheetsServer({ admits, port: Number(API_PORT), host });
  for (const [id, rows] of Object.entries(SPREADSHEETS)) sheets.put(id, rows);
  await listen((request, response) => use(sheets, request, response), { port: Number(DESK_PORT), host });
  console.log(JSON.stringify({ msg: 'Google server listens', issuer }));
  process.once('SIGTERM', () => process.exit(0));
}

async function use(sheets: SheetsServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/healthz') return void response.writeHead(200).end('ok');
  const [, name] = /^\/spreadsheets\/([^/?]+)$/.exec(request.url ?? '') ?? [];
  const id = decodeURIComponent(name ?? '');
  if (id === '') return sendJson(response, 404, { error: 'GET, PUT or POST /spreadsheets/ID, GET /healthz' });
  const text = await readBody(request);
  if (request.method === 'PUT') sheets.put(id, JSON.parse(text) as Rows);
  else if (request.method === 'POST') {
    sheets.sheet(id).rows.push(JSON.parse(text) as Rows[number]);
    sheets.touch(id);
  }
  sendJson(response, 200, sheets.sheet(id).rows);
}

if (import.meta.main) await main(process.env);
