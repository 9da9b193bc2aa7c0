/** The workflows of the flows: loops of mails, parents and children, callbacks, failures that are resumed. */
import { stringify } from 'yaml';
import type { SinkHosts } from '../workflows.ts';

export const FLOW_KINDS = [
  'repeated',
  'once',
  'parent',
  'callback',
  'due',
  'scheduled',
  'failing',
  'grouped',
] as const;
/**
 * - `repeated`, `once`: a loop of mails with `AtLeastOnce`, with `AtMostOnce`.
 * - `parent`: a child run that waits between two calls.
 * - `callback`: a node that waits for a callback.
 * - `due`: a wait that is longer than what keeps runners awake.
 * - `scheduled`: a call for a scheduled time, which is the event.
 * - `failing`: a mail, and a call that fails until it is mended. The run is resumed then.
 * - `grouped`: a group with a child run and a call that fails until it is mended. Its child must not run
 * again.
 */
export type FlowKind = (typeof FLOW_KINDS)[number];

/** The paths of the calls that a whole flow makes, each under one key. */
export const CALLS: Record<FlowKind, readonly string[]> = {
  repeated: [],
  once: [],
  parent: ['/before', '/begin', '/finish', '/after'],
  callback: ['/ask', '/result'],
  due: ['/due_before', '/due_after'],
  scheduled: ['/tick'],
  failing: ['/first', '/last'],
  grouped: ['/inner', '/last'],
};

/** How long a flow of the kind `due` waits. */
export const DUE_SECONDS = 100;

/** Flows that fail, are mended and resumed. */
export const RESUMED_KINDS: readonly FlowKind[] = ['failing', 'grouped'];

const trigger = { id: 'trigger', webhook: { path: 'in' } };
const manual = { id: 'trigger', manual: {} };
const event = "{{ $('trigger').data_content.event }}";

const caller =
  (sink: string) =>
  (id: string, body: object = {}) => ({
    id,
    skill: {
      name: 'http_request',
      parameters: { method: 'POST', url: `${sink}/${id}`, body: { event, ...body } },
    },
  });

const mail = (parameters: object, options: object = {}) => ({
  skill: { name: 'send_email', credential: 'mail', parameters: { body: 'Hello', ...parameters } },
  ...options,
});

const loop = (effect: string) => [
  trigger,
  {
    id: 'each',
    group: {},
    forEach: {
      items: "{{ $('trigger').data_content.items }}",
      maxParallel: 2,
      delay: '80ms',
      collect: 'None',
    },
  },
  {
    id: 'send',
    within: 'each',
    ...mail({ to: '{{ $item }}', subject: `${event} {{ $index }}` }, { effect }),
  },
];

function nodesOf(sink: string): Record<string, object[]> {
  const call = caller(sink);
  return {
    repeated: loop('AtLeastOnce'),
    once: loop('AtMostOnce'),
    parent: [
      trigger,
      call('before'),
      { id: 'child', workflow: { name: 'child', input: { event } } },
      call('after', { said: "{{ $('child').data_content.body.said }}" }),
    ],
    child: [manual, call('begin'), { id: 'pause', wait: { duration: '8s' } }, call('finish')],
    callback: [
      trigger,
      call('ask', { url: "{{ $url('done') }}" }),
      { id: 'done', wait: { callback: { timeout: '1h' } } },
      call('result', { said: "{{ $('done').data_content.said }}" }),
    ],
    due: [
      trigger,
      call('due_before'),
      { id: 'pause', wait: { duration: `${DUE_SECONDS}s` } },
      call('due_after'),
    ],
    scheduled: [
      // Nothing creates its pods by itself.
      { id: 'trigger', schedule: { cron: '0 0 1 1 *', missed: 'RunLatest' } },
      call('tick', { event: "{{ $('trigger').data_content.scheduled_time }}" }),
    ],
    failing: [
      trigger,
      call('first'),
      { id: 'mail', ...mail({ to: 'customer@example.com', subject: event }, { effect: 'AtMostOnce' }) },
      call('flaky'),
      { id: 'pause', wait: { duration: '4s' } },
      call('last'),
    ],
    grouped: [
      trigger,
      { id: 'all', group: {} },
      { id: 'child', within: 'all', workflow: { name: 'inner', input: { event } } },
      { ...call('flaky'), within: 'all' },
      call('last'),
    ],
    inner: [manual, call('inner')],
    alarm: [manual, call('alarm', { event: '', run: "{{ $('trigger').data_content.run }}" })],
  };
}

const INACTIVE = ['child', 'inner', 'alarm'];

/** Everything that the project needs. `sink`: the URL that receives calls. */
export function flowsManifest({ mail: address }: SinkHosts, sink: string): string {
  const [host, port] = address.split(':');
  const apiVersion = 'windlass.dev/v1alpha1';
  const smtp = { host, port: Number(port), tls: 'None', from: 'shop@example.com' };
  const workflows = Object.entries(nodesOf(sink)).map(([name, nodes]) => ({
    apiVersion,
    kind: 'Workflow',
    metadata: { name },
    spec: {
      active: !INACTIVE.includes(name),
      nodes,
      history: { succeeded: 1_000, failed: 1_000 },
      ...(name === 'failing' && { onFailure: { workflow: 'alarm' } }),
    },
  }));
  return [{ apiVersion, kind: 'Credential', metadata: { name: 'mail' }, spec: { smtp } }, ...workflows]
    .map((object) => stringify(object))
    .join('---\n');
}
