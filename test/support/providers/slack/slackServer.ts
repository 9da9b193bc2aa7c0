/**
 * A server that speaks the wire format of Slack's Web API, in a test or as a program on a cluster, as its
 * documentation has it:
 * https://docs.slack.dev/apis/web-api/ (200 also for refusals: `ok`, `error`),
 *   https://docs.slack.dev/apis/web-api/rate-limits (429, Retry-After)
 * https://docs.slack.dev/reference/methods/auth.test
 * https://docs.slack.dev/reference/methods/chat.postMessage
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';

/**
 * How every request fails: with one of Slack's errors, or otherwise. `lostAnswer`: it is done before the
 * connection breaks off.
 */
export type SlackFault =
  | { error: string }
  | 'tooManyRequests'
  | 'unavailable'
  | 'lostAnswer'
  | 'drop'
  | 'hang'
  | 'garbage';

/** The parameters of chat.postMessage. */
type Posted = { channel: string; text: string } & Record<string, unknown>;

export type SlackServer = {
  url: string;
  posted: Posted[];
  /** The method of each request so far. */
  calls: string[];
  /** Requests fail once `after` of them were answered, as many as `times`. */
  setFault(
    fault: SlackFault | undefined,
    options?: { after?: number; times?: number; retryAfter?: number },
  ): void;
  close(): Promise<void>;
};

export const SLACK_TOKEN = 'xoxb-17653672481-19874698323';
const LONGEST_TEXT = 40_000;

type Failing = { fault: SlackFault | undefined; after: number; times: number; retryAfter: number };
type State = Pick<SlackServer, 'posted' | 'calls'> & { token: string; failing: Failing };

/** Starts it, with a workspace whose channels all begin with C. `token` is the one that is taken. */
export async function startSlackServer({
  token = SLACK_TOKEN,
  ...at
}: {
  token?: string;
  port?: number;
  host?: string;
} = {}): Promise<SlackServer> {
  const state: State = { token, posted: [], calls: [], failing: failing(undefined) };
  const server = await listen((request, response) => answer(state, request, response), at);
  return {
    url: `${server.url}/api`,
    posted: state.posted,
    calls: state.calls,
    setFault: (fault, options) => {
      state.failing = failing(fault, options);
    },
    close: () => server.close(),
  };
}

function failing(
  fault: SlackFault | undefined,
  { after = 0, times = Infinity, retryAfter = 17 } = {},
): Failing {
  return { fault, after, times, retryAfter };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const method = /^\/api\/([\w.]+)$/.exec(request.url ?? '')?.[1] ?? '';
  state.calls.push(method);
  const text = await readBody(request);
  const fault = faultOf(state.failing);
  if (fault !== 'lostAnswer' && fail(fault, state.failing, request, response)) return;
  const result =
    request.headers.authorization === `Bearer ${state.token}`
      ? resultOf(state, method, (text === '' ? {} : JSON.parse(text)) as Posted)
      : 'invalid_auth';
  if (fault === 'lostAnswer') request.socket.destroy();
  else if (typeof result === 'string') sendJson(response, 200, { ok: false, error: result });
  else sendJson(response, 200, { ok: true, ...result });
}

function faultOf(failing: Failing): SlackFault | undefined {
  if (failing.fault === undefined || failing.times === 0) return undefined;
  if (failing.after > 0) failing.after -= 1;
  else {
    failing.times -= 1;
    return failing.fault;
  }
  return undefined;
}

function fail(
  fault: SlackFault | undefined,
  { retryAfter }: Failing,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (fault === undefined) return false;
  if (typeof fault === 'object') sendJson(response, 200, { ok: false, error: fault.error });
  else if (fault === 'tooManyRequests')
    sendJson(response, 429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(retryAfter) });
  else if (fault === 'unavailable') sendJson(response, 503, { ok: false, error: 'service_unavailable' });
  else if (fault === 'drop') request.socket.destroy();
  else if (fault === 'garbage')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>captive portal</html>');
  return true;
}

/** What is answered, or the error. */
function resultOf({ posted }: State, method: string, parameters: Posted): object | string {
  if (method === 'auth.test') return { url: 'https://shop.slack.com/', team: 'Shop', user: 'shop_bot' };
  if (method !== 'chat.postMessage') return 'unknown_method';
  const { channel, text } = parameters;
  if (typeof channel !== 'string' || !channel.startsWith('C')) return 'channel_not_found';
  if (typeof text !== 'string' || text === '') return 'no_text';
  posted.push(parameters);
  const ts = `1503435956.${String(posted.length).padStart(6, '0')}`;
  return { channel, ts, message: { type: 'message', ts, text: text.slice(0, LONGEST_TEXT) } };
}

async function main({ PORT: port = '3001', HOST: host = '0.0.0.0' }: Record<string, string | undefined>) {
  await startSlackServer({ port: Number(port), host });
  console.log(JSON.stringify({ msg: 'Slack server listens', port }));
  process.once('SIGTERM', () => process.exit(0));
}

if (import.meta.main) await main(process.env);
