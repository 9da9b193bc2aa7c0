/** Where steps may connect to. */
import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { parseEgressRules } from '../../../nodes/egress/rules.ts';
import { type Invalid, spec, webhook } from '../../../test/support/operator/workflowSpecs.ts';
import { validate } from '../validate.ts';

const call = (url: string): WorkflowNode => ({
  id: 'call',
  skill: { name: 'http_request', parameters: { url } },
});

test.each<Invalid>([
  [
    'a request to a private address',
    spec([webhook, call('http://10.0.0.7:8080/orders')]),
    'AddressForbidden',
    /^node call: skill: parameters: url: 10\.0\.0\.7 is a private address, which steps may not connect to: .*runner\.egress\.allow/,
  ],
  [
    'a request to where clouds tell a machine who it is',
    spec([webhook, call('http://169.254.169.254/latest/meta-data')]),
    'AddressForbidden',
    /169\.254\.169\.254 is a link-local address/,
  ],
  [
    'a request to this very machine',
    spec([webhook, call("http://localhost:8000/{{ $('trigger').data_content.id }}")]),
    'AddressForbidden',
    /localhost leads to a loopback address/,
  ],
  [
    'a request to an address of IPv6',
    spec([webhook, call('http://[::1]:6379/')]),
    'AddressForbidden',
    /::1 is a loopback address/,
  ],
  [
    'a request to a Service of the cluster',
    spec([webhook, call('http://redis.windlass-system.svc:6379/x')]),
    'AddressForbidden',
    /redis\.windlass-system\.svc is a Service of the cluster, .* add it to runner\.egress\.allow/,
  ],
  [
    'a request to a Service of the cluster by its full name',
    spec([webhook, call('http://redis.windlass-system.svc.cluster.local./x')]),
    'AddressForbidden',
    /is a Service of the cluster/,
  ],
])('%s is refused with its reason, the place and what to do', (_sentence, refused, reason, says) => {
  expect(validate(refused)[0]).toMatchObject({ reason, message: expect.stringMatching(says) });
});

test.each<[sentence: string, spec: WorkflowSpec]>([
  ['a host that only a name server knows', spec([webhook, call('http://orders.example.com:8080/')])],
  ['an address of the Internet', spec([webhook, call('https://1.1.1.1/dns-query')])],
  ['a host that a reference gives', spec([webhook, call("http://{{ $('trigger').data_content.host }}/")])],
])('%s is valid', (_sentence, spec) => {
  expect(validate(spec)).toEqual([]);
});

test('an address that the installation admits is valid, and one that it denies is not', () => {
  const egress = parseEgressRules(['10.0.0.0/8', 'localhost:11434'], ['1.1.1.1']);
  const problems = (url: string) =>
    validate(spec([webhook, call(url)]), { egress }).map(({ reason }) => reason);
  expect(problems('http://10.1.2.3:8080/orders')).toEqual([]);
  expect(problems('http://localhost:11434/v1')).toEqual([]);
  expect(problems('http://localhost:11435/v1')).toEqual(['AddressForbidden']);
  expect(problems('https://1.1.1.1/')).toEqual(['AddressForbidden']);
});

test.each<[allow: string[], url: string, isAdmitted: boolean]>([
  [['model.models.svc:8080'], 'http://model.models.svc:8080/v1', true],
  [['model.models.svc:8080'], 'http://model.models.svc:8081/v1', false],
  // The Service may have an address in it.
  [['10.0.0.0/8'], 'http://model.models.svc/v1', true],
  [['10.1.2.3:80'], 'http://model.models.svc/v1', true],
  [['10.1.2.3:81'], 'http://model.models.svc/v1', false],
  [['127.0.0.0/8'], 'http://model.models.svc/v1', false],
  [[], 'https://svc.example.com/v1', true],
])('with %j allowed a step that calls %s is valid: %s', (allow, url, isAdmitted) => {
  const egress = parseEgressRules(allow, []);
  expect(validate(spec([webhook, call(url)]), { egress }).length === 0).toBe(isAdmitted);
});
