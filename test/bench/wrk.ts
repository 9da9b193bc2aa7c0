/** Load by wrk, a program in C that takes little of the machine from what is measured. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, runCommand } from '../support/process/command.ts';

export type Load = {
  url: string;
  connections: number;
  seconds: number;
  /** The JSON text of every request. */
  body: string;
  /** Further headers of every request. */
  headers?: Record<string, string>;
  /** Whether every answer must be an error of the client's, not a 2xx. */
  refused?: boolean;
  /** Lua that is run before each request, where requests differ. */
  before?: string;
  /** Whether the load gets only what others leave of the processors. */
  yielding?: boolean;
  /** After which an answer counts as broken; default 2, and 20 where it yields. */
  timeoutSeconds?: number;
};

export type Measured = { perSecond: number; p50Ms: number; p99Ms: number; requests: number };

/**
 * Sends the load. Throws when any answer is not as it must be or any connection fails: then the figure would
 * mean nothing.
 */
export async function runWrk({
  url,
  connections,
  seconds,
  body,
  headers = {},
  refused = false,
  before,
  yielding = false,
  timeoutSeconds = yielding ? 20 : 2,
}: Load): Promise<Measured> {
  if (!(await findCommand('wrk'))) {
    throw new Error('wrk is missing, which makes the load. As root: apt-get install wrk');
  }
  const folder = await mkdtemp(join(tmpdir(), 'windlass-wrk-'));
  try {
    const script = join(folder, 'post.lua');
    await writeFile(script, luaOf(body, { 'Content-Type': 'application/json', ...headers }, before));
    const output = await runCommand(
      'nice',
      [
        '-n',
        yielding ? '19' : '0',
        'wrk',
        // Who waits for its turn is not broken.
        `--timeout=${timeoutSeconds}s`,
        '-t1',
        `-c${connections}`,
        `-d${seconds}s`,
        '--latency',
        '-s',
        script,
        url,
      ],
      { timeoutMs: seconds * 1_000 + 20_000 },
    );
    return parse(output, refused);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function luaOf(body: string, headers: Record<string, string>, before?: string): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return `wrk.method = 'POST'
wrk.body = ${JSON.stringify(body)}
${lines.join('\n')}
${before === undefined ? '' : `function request()\n${before}\nreturn wrk.format()\nend`}
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('RESULT %d %d %d %d %d %d\\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
`;
}

/** The first answers of a route that is called too often are no refusals yet. */
const NOT_YET_REFUSED = 50;

function parse(output: string, refused: boolean): Measured {
  const found = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output)?.slice(1).map(Number);
  if (found === undefined) throw new Error(`wrk said something else than expected:\n${output}`);
  const [requests = 0, microseconds = 1, p50 = 0, p99 = 0, broken = 0, errors = 0] = found;
  if (broken > 0) throw new Error(`${broken} of ${requests} requests failed:\n${output}`);
  if (refused ? errors < requests - NOT_YET_REFUSED : errors > 0) {
    throw new Error(`${errors} of ${requests} requests were refused:\n${output}`);
  }
  return {
    requests,
    perSecond: requests / (microseconds / 1e6),
    p50Ms: p50 / 1_000,
    p99Ms: p99 / 1_000,
  };
}
