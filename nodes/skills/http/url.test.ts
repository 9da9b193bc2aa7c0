import { expect, test } from 'vitest';
import type { RevisionStep } from '../../../api/revision.ts';
import { validateSkill } from '../../register.ts';
import { compileFields } from '../../step.ts';

const A = "{{ $('t').data_content[0] }}";
const B = "{{ $('t').data_content[1] }}";

/** The URL that is requested, or why none is. */
function urlOf(url: string, ...data: unknown[]): string {
  const step = { id: 'a', kind: 'skill', skill: { name: 'http_request', parameters: { url } } };
  try {
    const fields = compileFields(step as unknown as RevisionStep)({
      node: () => ({ text_content: '', data_content: data }),
    });
    return new URL((fields['parameters'] as { url: string }).url).href;
  } catch (error) {
    return String(error);
  }
}

const API = 'https://api.example.com';

test.each<[string, unknown[], string]>([
  [`${API}/orders/${A}`, [17], `${API}/orders/17`],
  [`${API}/orders/${A}/items`, ['a/b?c=d#e'], `${API}/orders/a%2Fb%3Fc%3Dd%23e/items`],
  [`${API}/orders/${A}`, ['../../admin'], `${API}/orders/..%2F..%2Fadmin`],
  [`${API}/orders/${A}`, ['%2e%2e'], `${API}/orders/%252e%252e`],
  [`${API}/orders/${A}`, ['..\\admin'], `${API}/orders/..%5Cadmin`],
  [`${API}/${A}`, ['//evil.example'], `${API}/%2F%2Fevil.example`],
  [`${API}/${A}/${B}`, ['@evil.example', 'grün 1'], `${API}/%40evil.example/gr%C3%BCn%201`],
  [`${API}?q=${A}&r=1`, ['a&r=2#x'], `${API}/?q=a%26r%3D2%23x&r=1`],
  [`${API}?q=${A}`, ['..'], `${API}/?q=..`],
  [`https://${A}/orders`, ['api.example.com:8443'], `${API}:8443/orders`],
  [`https://${A}`, ['[::1]:80'], 'https://[::1]:80/'],
  [`https://${A}.example.com/`, ['shop'], 'https://shop.example.com/'],
  [`https://api-${A}.example.com/`, ['eu'], 'https://api-eu.example.com/'],
  [`https://api.${A}/`, ['example.com'], `${API}/`],
  [`https://api.example.com:${A}/`, [8443], `${API}:8443/`],
  [`${A}/orders/${B}`, [`${API}/v1`, 'a/b'], `${API}/v1/orders/a%2Fb`],
  [A, [`${API}/orders?page=2#x`], `${API}/orders?page=2#x`],
])('%s with %j requests %s', (url, data, expected) => {
  expect(urlOf(url, ...data)).toBe(expected);
});

test.each<[string, unknown[]]>([
  [`${API}/orders/${A}`, ['..']],
  [`${API}/orders/${A}/items`, ['.']],
  [`${API}/orders/.${A}`, ['.']],
  [`${API}/orders/%2e${A}`, ['.']],
  [`${API}/orders/${A}`, ['']],
  [`${API}/orders/${A}${B}`, ['', '']],
  [`https://${A}.example.com/`, ['evil.example/']],
  [`https://${A}.example.com/`, ['evil.example#']],
  [`https://${A}.example.com/`, ['evil.example:443']],
  [`https://${A}.example.com/`, ['user@evil.example?']],
  [`https://${A}.example.com/`, ['evil.example\\']],
  [`https://api-${A}.example.com/`, ['eu.evil.example/']],
  [`https://${A}/orders`, ['evil.example/x?']],
  [`https://${A}/orders`, ['a@evil.example']],
  [`https://api.example.com:${A}/`, ['80@evil.example']],
  [`${A}/orders`, ['https://evil.example/?']],
  [`${A}/orders`, ['javascript:alert(1)']],
])('%s refuses %j', (url, data) => {
  expect(urlOf(url, ...data)).toMatch(/^StepError: url: /);
});

test.each([
  [`${API}${A}`, 'stands directly behind the host'],
  [`https://svc-${A}/`, 'stands directly behind the host'],
  [`${A}${B}`, 'stands directly behind the host'],
  [`http${A}://api.example.com/`, 'must begin with https:// or http:// before its first reference'],
  [`//api.example.com/${A}`, 'must begin with https:// or http:// before its first reference'],
  [`https://api example.com/${A}`, 'must not hold spaces'],
  [`https://user:secret@api.example.com/${A}`, 'must not hold a user or password'],
])('%s is refused with the workflow', (url, problem) => {
  expect(validateSkill('http_request', { url })).toEqual([expect.stringContaining(problem)]);
  expect(validateSkill('http_request', { url: `${API}/${A}?q=${B}` })).toEqual([]);
});

test('a value cannot leave its segment of the path', () => {
  for (const value of ['../../admin', 'x/../../admin', 'x?admin', 'x#admin', 'x\\..\\admin', '%2e%2e/admin'])
    expect(new URL(urlOf(`${API}/orders/${A}`, value)).pathname.split('/')).toHaveLength(3);
});
