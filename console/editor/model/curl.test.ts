import { expect, test } from 'vitest';
import { readCurl } from './curl.ts';

/** The parameters of the node, and the notes. */
function read(text: string) {
  const found = readCurl(text);
  if (found === undefined || 'problem' in found) return found;
  return { ...found.node.skill?.parameters, notes: found.notes };
}
const LOGIN = 'Create a credential for an HTTP API, and choose it in the node.';

test.each<[string, string, object]>([
  ['a GET', 'curl https://api.example.com/orders', { url: 'https://api.example.com/orders' }],
  ['a host without a scheme', 'curl api.example.com', { url: 'https://api.example.com/' }],
  [
    'a prompt, and what follows the command',
    '$ curl -s https://a.example/ | jq .',
    { url: 'https://a.example/' },
  ],
  [
    'JSON over lines',
    `curl -X PUT 'https://a.example/o' \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{"a": "it"}'`,
    { method: 'PUT', url: 'https://a.example/o', body: { a: 'it' } },
  ],
  [
    'JSON as browsers quote it',
    String.raw`curl 'https://a.example/o' --data-raw $'{"a":"it\'s\u00e4"}'`,
    { method: 'POST', url: 'https://a.example/o', body: { a: "it'sä" } },
  ],
  [
    'a form',
    'curl -d a=1 -d "b=two words" https://a.example/',
    {
      method: 'POST',
      url: 'https://a.example/',
      body: 'a=1&b=two words',
      contentType: 'application/x-www-form-urlencoded',
    },
  ],
  [
    'the option --json',
    `curl --json '[1]' https://a.example/`,
    { method: 'POST', url: 'https://a.example/', headers: { Accept: 'application/json' }, body: [1] },
  ],
  [
    'another type of JSON',
    `curl -H 'content-type: application/merge-patch+json' -XPATCH -d '{}' https://a.example/`,
    { method: 'PATCH', url: 'https://a.example/', body: {}, contentType: 'application/merge-patch+json' },
  ],
  [
    'data in the query',
    'curl -G --data-urlencode "q=a b" -d n=2 https://a.example/s',
    { url: 'https://a.example/s', query: { q: 'a b', n: '2' } },
  ],
  [
    'data in the query that has a name twice',
    'curl -G -d a=1 -d b=2 -d a=3 https://a.example/s',
    { url: 'https://a.example/s', query: { a: ['1', '3'], b: '2' } },
  ],
  [
    'HEAD, and short options together',
    'curl -sSLI https://a.example/',
    { method: 'HEAD', url: 'https://a.example/' },
  ],
  [
    'options that change nothing',
    'curl -o out.json --max-time 5 -w "%{http_code}" --compressed https://a.example/',
    { url: 'https://a.example/' },
  ],
  ['an escaped character', String.raw`curl https://a.example/a\&b`, { url: 'https://a.example/a&b' }],
])('%s becomes a step', (_what, text, parameters) => {
  expect(read(text)).toEqual({ ...parameters, notes: [] });
});

test.each([
  ['-H "Authorization: Bearer sk-1234567890abcdef"', 'Authorization'],
  ['-H "x-api-key: secret1"', 'x-api-key'],
  ['-b "session=secret1"', 'Cookie'],
  ['-H "PRIVATE-TOKEN: secret1"', 'PRIVATE-TOKEN'],
  ['-H "x-goog-api-key: secret1"', 'x-goog-api-key'],
  ['-H "X-Shopify-Access-Token: secret1"', 'X-Shopify-Access-Token'],
  ['-H "Ocp-Apim-Subscription-Key: secret1"', 'Ocp-Apim-Subscription-Key'],
  ['-G -d access_token=secret1', 'access_token in the query'],
  ['-u ada:secret1', 'the option --user'],
])('the login %s is not in the step, and the note says what to do', (option, name) => {
  const found = read(`curl ${option} https://a.example/`);
  expect(found).toEqual({ url: 'https://a.example/', notes: [`Left out: ${name}. ${LOGIN}`] });
});

test('a login in the query of the URL is not in the step, and the rest of the query stays', () => {
  expect(read('curl "https://a.example/?q=a+b&api_key=secret1&x=%2F"')).toEqual({
    url: 'https://a.example/?q=a+b&x=%2F',
    notes: [`Left out: api_key in the query. ${LOGIN}`],
  });
});

test.each([
  ['', 'application/json'],
  ['-H "Content-Type: application/vnd.a+json"', 'application/vnd.a+json'],
])('a body with a number that JSON would round keeps its digits', (option, contentType) => {
  expect(read(`curl ${option} -d '{"id": 9007199254740993}' https://a.example/`)).toEqual({
    method: 'POST',
    url: 'https://a.example/',
    body: '{"id": 9007199254740993}',
    contentType,
    notes: ['The body is text, because it has a number that would be rounded as JSON.'],
  });
});

test('a name that only sounds like a login stays', () => {
  const url = 'https://a.example/?page_token=7';
  expect(read(`curl -H "Idempotency-Key: 7" -H "Sort-Key: a" ${url}`)).toEqual({
    url,
    headers: { 'Idempotency-Key': '7', 'Sort-Key': 'a' },
    notes: [],
  });
});

test('a login in the URL is not in the step', () => {
  expect(read('curl https://ada:secret1@a.example/')).toEqual({
    url: 'https://a.example/',
    notes: [`Left out: the login in the URL. ${LOGIN}`],
  });
});

test('an option that the node does not have is named', () => {
  expect(read('curl -k https://a.example/')).toEqual({
    url: 'https://a.example/',
    notes: ['Left out: --insecure: the node checks the certificate.'],
  });
});

test.each(['curl', 'wget https://a.example/', 'nodes: [curl https://a.example/]'])(
  '%s is no curl command',
  (text) => {
    expect(readCurl(text)).toBeUndefined();
  },
);

test.each([
  ['curl -s', 'this command has 0 URLs'],
  ['curl https://a.example/ https://b.example/', 'this command has 2 URLs'],
  ['curl ftp://a.example/', 'no URL with https or http'],
  ['curl file:///etc/passwd', 'no URL with https or http'],
  ["curl 'https://a.example/", 'no end'],
  ['curl https://a.example/ -H', 'The option -H has no value.'],
  ['curl -d @body.json https://a.example/', 'The body is in the file body.json.'],
  ['curl -F file=@a https://a.example/', 'cannot send a form'],
  ['curl https://a.example/$ID', 'a variable or a substitution'],
  ['curl "https://a.example/$(id)"', 'a variable or a substitution'],
  ['curl -H "Authorization: Bearer ${TOKEN}" https://a.example/', 'a variable or a substitution'],
])('%s: %s', (text, says) => {
  const found = readCurl(text);
  expect(found).toEqual({ problem: expect.stringContaining(says) as string });
});

test('a long hostile text is read in time', () => {
  const text = `curl ${'"\\'.repeat(30_000)}`;
  expect(readCurl(text)).toEqual({ problem: expect.any(String) as string });
  expect(readCurl(`curl ${'a'.repeat(300_000)}`)).toBeUndefined();
});
