/** What becomes of a step when Google Sheets fails it. */
import { afterAll, expect, test } from 'vitest';
import { StepError } from '../../../api/reasons.ts';
import { listen, sendJson } from '../../../test/support/network/listen.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';
import { sheetsFailure } from '../../../test/support/nodes/sheetsSkill.ts';

const server = await startSheetsServer();
afterAll(() => server.close());

type Fault = NonNullable<Parameters<SheetsServer['setFault']>[0]>;

const READ = { spreadsheetId: 'orders' };
const WRITE = { spreadsheetId: 'orders', values: ['a'], header: false };

const skills: [name: string, parameters: object][] = [
  ['read_rows', READ],
  ['append_row', WRITE],
  ['update_row', { ...WRITE, row: 2 }],
];

/** The reason, and that of `append_row`, which must not be repeated. */
const faults: [fault: Fault, reason: string, ofAppend: string, isRetried: boolean][] = [
  ['unauthorized', 'CredentialRejected', 'CredentialRejected', false],
  ['forbidden', 'Refused', 'Refused', false],
  ['insufficientScopes', 'CredentialRejected', 'CredentialRejected', false],
  ['notFound', 'Refused', 'Refused', false],
  ['gone', 'Refused', 'Refused', false],
  ['tooManyRequests', 'RateLimited', 'RateLimited', true],
  ['unavailable', 'UpstreamError', 'EffectUnknown', true],
  ['lostAnswer', 'Unreachable', 'EffectUnknown', true],
  ['drop', 'Unreachable', 'EffectUnknown', true],
  ['garbage', 'InvalidAnswer', 'EffectUnknown', true],
];

const cases = faults.flatMap(([fault, reason, ofAppend, isRetried]) =>
  skills.map(([name, parameters]) => {
    const expected = name === 'append_row' ? ofAppend : reason;
    return { fault, name, parameters, expected, isRetried: isRetried && expected !== 'EffectUnknown' };
  }),
);

test.each(cases)(
  '$fault while $name is executed is $expected',
  async ({ fault, name, parameters, expected, isRetried }) => {
    server.put('orders', [['Item'], ['Lamp']]);
    server.setFault(fault);
    const error = await sheetsFailure(server, name, parameters);
    server.setFault(undefined);
    expect(error).toMatchObject({ reason: expected, retryable: isRetried });
    expect(error.message).not.toContain('good-token');
    expect(error.retryAfterMs).toBe(fault === 'tooManyRequests' ? 17_000 : undefined);
  },
);

test('a quota may be told as 403', async () => {
  const message = 'Rate Limit Exceeded';
  const errors = [{ message, domain: 'usageLimits', reason: 'rateLimitExceeded' }];
  const limited = await listen((_request, response) =>
    sendJson(response, 403, { error: { code: 403, message, errors } }),
  );
  expect(await sheetsFailure(limited, 'append_row', WRITE)).toMatchObject({
    reason: 'RateLimited',
    retryable: true,
  });
  await limited.close();
});

test('a quota that ends while the header is read has written nothing, and is waited for', async () => {
  server.put('orders', [['Item']]);
  server.setFault('tooManyRequests', { after: 1 });
  const error = await sheetsFailure(server, 'append_row', { spreadsheetId: 'orders', values: { Item: 'a' } });
  server.setFault(undefined);
  expect(error).toMatchObject({ reason: 'RateLimited', retryable: true });
  expect(server.sheet('orders').rows).toHaveLength(1);
});

test.each([
  ['read_rows', READ, 'Timeout'],
  ['append_row', WRITE, 'EffectUnknown'],
])(
  'a step that ends while Google does not answer has no more than that to say: %s',
  async (name, parameters, reason) => {
    server.put('orders', [['Item']]);
    server.setFault('hang');
    const end = new AbortController();
    server.onRequest(() => end.abort(new StepError('Timeout', 'the step took longer than its timeout')));
    const error = await sheetsFailure(server, name, parameters, { signal: end.signal });
    server.onRequest(undefined);
    server.setFault(undefined);
    expect(error.reason).toBe(reason);
  },
);

test('a step that has ended asks for nothing', async () => {
  server.requests.length = 0;
  const signal = AbortSignal.abort(new StepError('Cancelled', 'the run was cancelled'));
  expect((await sheetsFailure(server, 'append_row', WRITE, { signal })).reason).toBe('Cancelled');
  expect(server.requests).toEqual([]);
});
