/** The workflows of projects whose runners sleep: one for each way in which they wake. */
import { stringify } from 'yaml';
import { COUNT_PATH } from '../effects.ts';
import type { Evidence } from '../evidence.ts';
import type { SinkHosts } from '../workflows.ts';

/** The shortest time that is permitted. */
const SLEEP_AFTER = '30s';
/** So long that runners fall asleep meanwhile: they stay awake for what is due within 70 s. */
export const WAIT_MS = 150_000;
/** Each project has its schedule at another minute than its neighbour. */
const SCHEDULE_MINUTES = 3;

/**
 * - `note`: two steps.
 * - `reply`: a step, and an answer to a caller who waits for it.
 * - `wait`: a wait between two steps.
 * - `ask`: a callback between two steps.
 */
export type SentKind = 'note' | 'reply' | 'wait' | 'ask';

/** What is sent as events. All steps are counted, and none may be repeated. */
export const SENT: Pick<Evidence, 'effectsOf' | 'orders'> = {
  effectsOf: {
    note: ['count', 'count'],
    reply: ['count'],
    wait: ['count', 'count'],
    ask: ['count', 'count'],
  } satisfies Record<SentKind, 'count'[]>,
  orders: [['first', 'second']],
};

/** The workflow with a schedule, and the one that is started by mails. */
export const SCHEDULED = 'tick';
const POLLED = 'inbox';

export const ALL_WORKFLOWS = [...Object.keys(SENT.effectsOf), SCHEDULED, POLLED];

/** The minutes of the project with that index are those with this rest. */
const offsetOf = (index: number) => index % SCHEDULE_MINUTES;

/**
 * The times of the schedule of the project with that index, in milliseconds: from `from` on, before `until`.
 */
export function timesOf(index: number, from: number, until: number): number[] {
  const minutes = Array.from(
    { length: Math.ceil((until - from) / 60_000) + 1 },
    (_, each) => Math.ceil(from / 60_000) + each,
  );
  return minutes
    .filter((minute) => (minute % 60) % SCHEDULE_MINUTES === offsetOf(index))
    .map((minute) => minute * 60_000)
    .filter((time) => time < until);
}

const trigger = { id: 'trigger', webhook: { path: 'in' } };
const answering = { id: 'trigger', webhook: { path: 'in', replyTimeout: '60s' } };
const event = "{{ $('trigger').data_content.event }}";

function nodesOf(http: string, index: number): Record<string, object[]> {
  const step = (id: string, body: object = { event }) => ({
    id,
    skill: { name: 'http_request', parameters: { method: 'POST', url: `http://${http}${COUNT_PATH}`, body } },
    effect: 'AtMostOnce',
  });
  const run = "{{ $('first').data_content.body.run }}";
  return {
    note: [trigger, step('first'), step('second')],
    reply: [answering, step('first'), { id: 'reply', response: { body: { event, run } } }],
    wait: [
      trigger,
      step('first'),
      { id: 'pause', wait: { duration: `${WAIT_MS / 1_000}s` } },
      step('second'),
    ],
    ask: [
      trigger,
      step('first', { event, url: "{{ $url('done') }}" }),
      { id: 'done', wait: { callback: { timeout: '1h' } } },
      step('second', { event, said: "{{ $('done').data_content.said }}" }),
    ],
    [SCHEDULED]: [
      {
        id: 'trigger',
        schedule: { cron: `${offsetOf(index)}-59/${SCHEDULE_MINUTES} * * * *`, timeZone: 'Europe/Berlin' },
      },
      { id: 'say', skill: { name: 'set', parameters: { values: { is: "'done'" } } } },
    ],
    [POLLED]: [
      // The shortest interval for which runners sleep.
      { id: 'trigger', mail: { credential: 'mailbox', pollIntervalSeconds: 300 } },
      step('first', { event: "{{ $('trigger').data_content.subject }}" }),
    ],
  };
}

/** Everything that a project needs. Its mailbox is named after it. */
export function sleepManifest(hosts: SinkHosts, project: string, index: number): string {
  const object = (kind: string, name: string, spec: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const passwordRef = { name: 'accounts', key: 'password' };
  const imap = { host: 'imap.windlass-demo.svc', port: 1143, tls: 'None', username: project, passwordRef };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: passwordRef.name } };
  return [
    { ...secret, stringData: { password: 'demo-password' } },
    object('ProjectSettings', 'default', { runners: { sleepAfter: SLEEP_AFTER } }),
    object('Credential', 'mailbox', { imap }),
    ...Object.entries(nodesOf(hosts.http, index)).map(([name, nodes]) =>
      object('Workflow', name, { active: true, nodes, history: { succeeded: 1_000, failed: 1_000 } }),
    ),
  ]
    .map((each) => stringify(each))
    .join('---\n');
}
