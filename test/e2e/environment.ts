/** What every end-to-end test works with: the cluster, its API, the gateway, and projects of its own. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { inject } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { RunStatus } from '../../api/run.ts';
import { openGateway } from '../support/installation/installedGateway.ts';
import { applyManifest, demoNamespace, exampleFolder } from '../support/installation/install.ts';
import { kubectl, readPath } from '../support/cluster/kubectl.ts';
import type { CommandOptions } from '../support/process/command.ts';
import { receivedMails } from '../support/installation/demoMailbox.ts';
import type { ReceivedMail } from '../support/providers/mail/mailServer.ts';
import { pollUntil } from '../support/time/poll.ts';

export const cluster = inject('cluster');
export const gateway = await openGateway(cluster);

/** kubectl of the cluster, as its administrator. */
export const kube = (args: string[], options?: CommandOptions) => kubectl(cluster, args, options);

/**
 * A new namespace; its runners may need seconds to start. Names are short, so that names of children are not
 * cut.
 */
export async function createProject(): Promise<string> {
  const name = `e2e-${randomBytes(3).toString('hex')}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await applyManifest(
    cluster,
    stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }),
  );
  return name;
}

/** Begins to remove a project and all in it. */
export const removeProject = (name: string) => kube(['delete', 'namespace', name, '--wait=false']);

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/**
 * One request on a connection of its own, so that any replica may get it. A body is sent as JSON, a string as
 * it is.
 */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const json = sent === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, agent: false, headers: { ...json, ...headers } });
    request.on('error', reject);
    request.on('response', (response) => {
      textOf(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        reject,
      );
    });
    request.end(sent);
  });
}

/** A call of a webhook. */
export const postWebhook = (
  project: string,
  workflow: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) => send('POST', webhookURL(project, workflow, path), body, headers);

export const webhookURL = (project: string, workflow: string, path: string) =>
  `${gateway.publicURL}/webhook/${project}.${workflow}/${path}`;

export type RecordedRun = {
  metadata: { name: string };
  spec: {
    workflow: string;
    trigger?: { type: string; key?: string };
    input?: { text_content?: string; data_content?: unknown };
    parent?: { run: string; node: string };
    test?: boolean;
  };
  status?: RunStatus;
};

/** What the API server has at that path, for polls. */
export const readAt = <T>(path: string): Promise<T> => readPath(cluster, path);

/** The names of the objects at a path of the API server. */
export async function namesAt(path: string): Promise<string[]> {
  const { items } = await readAt<{ items: { metadata: { name: string } }[] }>(path);
  return items.map(({ metadata }) => metadata.name);
}

/** The object of ours at that place, such as `workflows/orders`, or all of a kind. */
const read = <T>(project: string, place: string): Promise<T> =>
  readAt(`/apis/windlass.dev/v1alpha1/namespaces/${project}/${place}`);

/** The names of a project's CronJobs. */
export const cronJobsOf = (project: string) => namesAt(`/apis/batch/v1/namespaces/${project}/cronjobs`);

/** The records of a project's runs. */
export async function recordedRuns(project: string): Promise<RecordedRun[]> {
  return (await read<{ items: RecordedRun[] }>(project, 'workflowruns')).items;
}

/** The record of a run, once it is in that phase. */
export function runInPhase(
  project: string,
  name: string,
  phase: string,
  timeoutMs = 100_000,
): Promise<RecordedRun> {
  return pollUntil(
    `run ${name} in phase ${phase}`,
    async () => {
      const run = await read<RecordedRun>(project, `workflowruns/${name}`);
      if (run.status?.phase !== phase) throw new Error(`it is ${run.status?.phase ?? 'without a status'}`);
      return run;
    },
    { timeoutMs },
  );
}

export type Condition = { type: string; status: string; reason: string; message: string };
export type WorkflowObject = {
  metadata: { annotations?: Record<string, string> };
  spec: Record<string, unknown>;
  status?: { url?: string; conditions?: Condition[] };
};

export const workflowObject = (project: string, name: string) =>
  read<WorkflowObject>(project, `workflows/${name}`);

/** The spec in the draft of the workflow. */
export async function draftSpec(project: string, name: string): Promise<Record<string, unknown>> {
  const { spec } = await read<{ spec: { body: string } }>(project, `workflowdrafts/${name}`);
  return (JSON.parse(spec.body) as { spec: Record<string, unknown> }).spec;
}

/** Waits until the condition has that status and, if it is given, that reason; gives it. */
export function condition(
  project: string,
  object: string,
  type: string,
  wanted: { status: string; reason?: string },
): Promise<Condition> {
  return pollUntil(
    `${type}=${wanted.status} ${wanted.reason ?? ''} at ${object}`,
    async () => {
      const { status } = await read<WorkflowObject>(project, object.replace('.windlass.dev/', '/'));
      const found = status?.conditions?.find((each) => each.type === type);
      const fits = found?.status === wanted.status && (wanted.reason ?? found.reason) === found.reason;
      if (!fits) throw new Error(`it is ${found?.status} ${found?.reason}: ${found?.message}`);
      return found;
    },
    { timeoutMs: 100_000 },
  );
}

/** The mails to that address so far. */
export async function mailsTo(address: string): Promise<ReceivedMail[]> {
  return (await receivedMails(cluster)).filter((mail) => mail.to.includes(address));
}

const model = `/api/v1/namespaces/${demoNamespace}/services/model:http/proxy`;

/** How often the demo's model was asked with this text in the prompt. */
export async function timesAsked(text: string): Promise<number> {
  const requests = await readPath<object[]>(cluster, `${model}/requests`);
  return requests.filter((request) => JSON.stringify(request).includes(text)).length;
}

/** The demo's model goes on with answers of `demo-paused` to prompts that contain this text. */
export const resumeModel = (text: string) =>
  kube(['replace', '--raw', `${model}/resume`, '-f', '-'], { input: text });

export type Manifest = { kind: string; metadata: { name: string }; spec?: Record<string, unknown> };

/** The objects of an example, one by one. */
export async function exampleObjects(example: string, ...files: string[]): Promise<Manifest[]> {
  const texts = await Promise.all(files.map((file) => readFile(join(exampleFolder(example), file), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
}

/** Applies objects to a project as a person would, with client-side `kubectl apply`. */
export const apply = (project: string, ...objects: object[]) =>
  kube(['apply', '-n', project, '--validate=strict', '-f', '-'], {
    input: objects.map((object) => stringify(object, { compat: 'yaml-1.1' })).join('---\n'),
  });

/** A workflow to apply. */
export const workflowOf = (name: string, nodes: object[], rest: object = {}): object => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { active: true, nodes, ...rest },
});
