/** Every object that the operator writes into a project, from the operator's own functions. */
import { API_VERSION } from '../../../api/group.ts';
import type { Credential, WebhookRoute, Workflow, WorkflowRun } from '../../../api/kinds.ts';
import { testRouteName } from '../../../api/names.ts';
import type { RouteSpec } from '../../../api/route.ts';
import { asChild } from '../../../kube/apply.ts';
import type { Manifest } from '../../../kube/writes.ts';
import {
  controllerRevisions,
  cronJobs,
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import { grantPart, tokenPart } from '../../../operator/oauth/grant.ts';
import { pollCronJob } from '../../../operator/poll/cronJob.ts';
import {
  poolDeployment,
  poolDisruptionBudget,
  poolNetworkPolicy,
  poolRole,
  poolRoleBinding,
  poolSecret,
  poolServiceAccount,
} from '../../../operator/project/manifests.ts';
import type { ProjectConfig } from '../../../operator/pods/settings.ts';
import { poolScaledObject } from '../../../operator/scaling/scaledObject.ts';
import {
  networkPolicies,
  podDisruptionBudgets,
  scaledObjects,
  webhookRoutes,
} from '../../../operator/shared/resources.ts';
import { rulesOf, scheduleCronJob } from '../../../operator/schedule/cronJob.ts';
import { secretOf } from '../../../operator/webhooks/projectSecret.ts';
import { controllerRevision, namedRevision } from '../../../operator/workflow/revision.ts';

/** A kind with an object of it. */
export type Write = { resource: Resource; manifest: Manifest<KubeObject> };

const write = <T extends KubeObject>(resource: Resource<T>, manifest: Manifest<T>): Write => ({
  resource,
  manifest,
});

type Project = { namespace: string; uid: string };

function workflowIn(namespace: string): Workflow {
  const metadata = { name: 'report', namespace, uid: 'f2d3b5f4-7d1a-4c07-93a5-6f2f1a0f5a11', generation: 3 };
  const nodes: Workflow['spec']['nodes'] = [{ id: 'trigger', schedule: { cron: '0 9 * * 1-5' } }];
  return { apiVersion: API_VERSION, kind: 'Workflow', metadata, spec: { active: true, nodes } };
}

function listeningRunIn(namespace: string): WorkflowRun {
  const metadata = { name: 'listens', namespace, uid: '5d0a1f55-2f1c-4c5e-9c0e-7b9f1f1a2d33' };
  const spec = { workflow: 'report', test: true, listenFor: '2m' };
  return { apiVersion: API_VERSION, kind: 'WorkflowRun', metadata, spec };
}

/** The route of a test run that listens for an event. */
function testRoute(run: WorkflowRun, route: RouteSpec): Manifest<WebhookRoute> {
  const { name, uid = '' } = run.metadata;
  const webhook = { path: 'test-0123456789abcdef0123456789abcdef', reply: false, replyTimeoutSeconds: 30 };
  const spec = { ...route, workflowUID: uid, testRun: name, trigger: 'webhook', active: false, webhook };
  return asChild<WebhookRoute>(run, { metadata: { name: testRouteName(uid) }, spec });
}

function credentialIn(namespace: string): Credential {
  const metadata = { name: 'mailbox', namespace, uid: '0b0f7a52-5b43-4f4e-8a8a-0e5c6a1f7c22' };
  return { apiVersion: API_VERSION, kind: 'Credential', metadata, spec: {} };
}

/** The objects of a project, by a word for each. */
export function operatorWrites(config: ProjectConfig, project: Project) {
  const { namespace } = project;
  const workflow = workflowIn(namespace);
  const run = listeningRunIn(namespace);
  const { name, uid = '' } = workflow.metadata;
  const revision = namedRevision(workflow);
  const route: RouteSpec = {
    workflow: name,
    workflowUID: uid,
    projectUID: project.uid,
    revision: revision.name,
    trigger: 'schedule',
    active: true,
  };
  const tick = (missed: 'Skip' | 'RunLatest') =>
    scheduleCronJob(workflow, route, rulesOf({ cron: '0 9 * * *', missed }), config);
  const grant = { connection: 'a', accessToken: 'b', obtainedAt: 0, scopes: [] };
  const budget = poolDisruptionBudget(namespace, config);
  const network = poolNetworkPolicy(namespace, config);
  const scaledObject = poolScaledObject(namespace, config);
  const entries = new Map([[`${uid}.1111111111111111`, 'key']]);
  return {
    account: write(serviceAccounts, poolServiceAccount(namespace, config.serviceAccountAnnotations)),
    poolSecret: write(secrets, poolSecret(namespace, { username: 'a', password: 'b' })),
    webhooks: write(secrets, secretOf(namespace, entries, [{ kind: 'Workflow', name, uid }], undefined)),
    tokens: write(secrets, tokenPart(credentialIn(namespace), grant)),
    refreshTokens: write(secrets, grantPart(credentialIn(namespace), grant)),
    roleWithoutSecrets: write(roles, poolRole(namespace, [])),
    role: write(roles, poolRole(namespace, ['smtp', 'windlass-tokens'])),
    binding: write(roleBindings, poolRoleBinding(namespace)),
    ...(network && { network: write(networkPolicies, network) }),
    ...(budget && { budget: write(podDisruptionBudgets, budget) }),
    ...(scaledObject && { scaledObject: write(scaledObjects, scaledObject) }),
    runners: write(deployments, poolDeployment(project, config, '0123456789abcdef', config.RUNNER_REPLICAS)),
    poll: write(cronJobs, pollCronJob(project, config, { period: 15, isSuspended: true })),
    tick: write(cronJobs, asChild(workflow, tick('Skip'))),
    patientTick: write(cronJobs, asChild(workflow, tick('RunLatest'))),
    revision: write(
      controllerRevisions,
      controllerRevision(workflow, revision, { given: workflow.spec, now: new Date(0) }),
    ),
    route: write(webhookRoutes, asChild(workflow, { metadata: { name }, spec: route })),
    testRoute: write(webhookRoutes, testRoute(run, route)),
  };
}

export type OperatorWrites = ReturnType<typeof operatorWrites>;
