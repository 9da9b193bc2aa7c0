/**
 * Pods that the token of the operator must not have made: the Deployments and CronJobs that the operator
 * writes, with one member changed.
 */
import type { HostileWrite, Path } from './hostileWrites.ts';

const FIELDS = 'these fields of pods: ';
const CONTAINER_FIELDS = 'these fields of containers: ';
const VARIABLES = 'these environment variables, or not to this value: ';
const SECURITY = 'only with the security context of Windlass';
const ONE = 'one container in each pod, named after its program';
const LABELS = 'only the labels of Windlass';
const OWN_TICKS = 'CronJobs for schedules of Workflows';
const ACCOUNT = 'only as the service account windlass-runner, and ticks only without its token';
const NODE = 'ports or devices of the node, or volumes outside';
const EMPTY = 'only volumes of type emptyDir';
const PRIORITY = 'only the priority classes of projectSettings.priorityClassNames, not system-node-critical';
const LOST_NODE = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
const TOLERATIONS = 'only tolerations of projectSettings.tolerationKeys';
const NODES = 'select nodes only by the labels of projectSettings.nodeSelectorKeys';
const NEIGHBOURS = 'only to pods of the same namespace';
const NAME_LABEL = 'app.kubernetes.io/name';

const pod = (...path: Path): Path => ['spec', 'template', 'spec', ...path];
const container = (...path: Path): Path => pod('containers', 0, ...path);
const tickPod = (...path: Path): Path => ['spec', 'jobTemplate', ...pod(...path)];
const ofOthers = {
  topologyKey: 'kubernetes.io/hostname',
  labelSelector: { matchLabels: { app: 'payments' } },
};
const byTeam = { matchExpressions: [{ key: 'team', operator: 'Exists' }] };
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const other = { name: 'other', image: 'windlass:0.1.0' };
const variable = (name: string, value: string) => [{ name, value }];
const fieldVariable = (name: string, fieldPath: string) => [{ name, valueFrom: { fieldRef: { fieldPath } } }];
const secretVariable = (variableName: string, name: string) => [
  { name: variableName, valueFrom: { secretKeyRef: { name, key: 'password' } } },
];

export const HOSTILE_PODS: HostileWrite[] = [
  ['the network of the node', 'runners', pod('hostNetwork'), true, `${FIELDS}hostNetwork`],
  ['the processes of the node', 'runners', pod('hostPID'), true, `${FIELDS}hostPID`],
  ['the memory of the node', 'runners', pod('hostIPC'), true, `${FIELDS}hostIPC`],
  ['a node of its choice', 'runners', pod('nodeName'), 'control-plane', `${FIELDS}nodeName`],
  ['a priority of the system', 'runners', pod('priorityClassName'), 'system-node-critical', PRIORITY],
  [
    'a priority of the system for ticks',
    'tick',
    tickPod('priorityClassName'),
    'system-node-critical',
    PRIORITY,
  ],
  ['nodes for others', 'runners', pod('tolerations'), [{ operator: 'Exists' }], TOLERATIONS],
  ['a lost node for ever', 'runners', pod('tolerations'), [{ ...LOST_NODE }], TOLERATIONS],
  [
    'a lost node for longer',
    'runners',
    pod('tolerations'),
    [{ ...LOST_NODE, tolerationSeconds: 31 }],
    TOLERATIONS,
  ],
  [
    'a lost node for ticks',
    'tick',
    tickPod('tolerations'),
    [{ ...LOST_NODE, tolerationSeconds: 30 }],
    TOLERATIONS,
  ],
  [
    'nodes of the control plane for ticks',
    'tick',
    tickPod('tolerations'),
    [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
    TOLERATIONS,
  ],
  ['nodes with a label of others', 'runners', pod('nodeSelector'), { team: 'payments' }, NODES],
  [
    'nodes with a label of others for poll pods',
    'poll',
    tickPod('nodeSelector'),
    { team: 'payments' },
    NODES,
  ],
  [
    'nodes that must have a label of others',
    'runners',
    pod('affinity', 'nodeAffinity'),
    { [REQUIRED]: { nodeSelectorTerms: [byTeam] } },
    NODES,
  ],
  [
    'nodes that should have a label of others',
    'runners',
    pod('affinity', 'nodeAffinity'),
    { [PREFERRED]: [{ weight: 1, preference: byTeam }] },
    NODES,
  ],
  [
    'a node by its name in an affinity',
    'runners',
    pod('affinity', 'nodeAffinity'),
    {
      [REQUIRED]: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
      },
    },
    NODES,
  ],
  [
    'no node with pods of another namespace',
    'runners',
    pod('affinity', 'podAntiAffinity'),
    { [REQUIRED]: [{ ...ofOthers, namespaces: ['payments'] }] },
    NEIGHBOURS,
  ],
  [
    'no node with pods of any namespace, if possible',
    'runners',
    pod('affinity', 'podAntiAffinity'),
    { [PREFERRED]: [{ weight: 1, podAffinityTerm: { ...ofOthers, namespaceSelector: {} } }] },
    NEIGHBOURS,
  ],
  [
    'nodes with pods of any namespace',
    'tick',
    tickPod('affinity'),
    { podAffinity: { [REQUIRED]: [{ ...ofOthers, namespaceSelector: {} }] } },
    NEIGHBOURS,
  ],
  ['another runtime', 'runners', pod('runtimeClassName'), 'other', `${FIELDS}runtimeClassName`],
  ['shared processes', 'runners', pod('shareProcessNamespace'), true, `${FIELDS}shareProcessNamespace`],
  [
    'addresses of hosts',
    'runners',
    pod('hostAliases'),
    [{ ip: '10.0.0.1', hostnames: ['a'] }],
    `${FIELDS}hostAliases`,
  ],
  ['an init container', 'runners', pod('initContainers'), [other], `${FIELDS}initContainers`],
  ['a second container', 'runners', pod('containers', 1), other, ONE],
  ['a container of another name', 'runners', container('name'), 'poll', ONE],
  ['another account', 'runners', pod('serviceAccountName'), 'default', ACCOUNT],
  ['no account', 'runners', pod('serviceAccountName'), undefined, ACCOUNT],
  ['root', 'runners', pod('securityContext', 'runAsUser'), 0, SECURITY],
  ['perhaps root', 'runners', pod('securityContext', 'runAsNonRoot'), false, SECURITY],
  ['no seccomp', 'runners', pod('securityContext', 'seccompProfile', 'type'), 'Unconfined', SECURITY],
  ['a group of files', 'runners', pod('securityContext', 'fsGroup'), 0, SECURITY],
  ['a path of the node', 'runners', pod('volumes', 0), { name: 'tmp', hostPath: { path: '/' } }, EMPTY],
  [
    'a Secret as a volume',
    'runners',
    pod('volumes', 2),
    { name: 'a', secret: { secretName: 'smtp' } },
    EMPTY,
  ],
  [
    'the password of the run store as a file',
    'runners',
    pod('volumes', 1),
    {
      name: 'run-store-ca',
      secret: { secretName: 'windlass-runner', items: [{ key: 'password', path: 'ca.crt' }] },
    },
    EMPTY,
  ],
  [
    'a token as a volume',
    'runners',
    pod('volumes', 2),
    { name: 'a', projected: { sources: [{ serviceAccountToken: { path: 'a' } }] } },
    EMPTY,
  ],
  [
    'a Secret for pulling',
    'runners',
    pod('imagePullSecrets', 0),
    { name: 'smtp' },
    'only with the imagePullSecrets of the chart',
  ],
  [
    'another image',
    'runners',
    container('image'),
    'example.com/miner',
    'only the image of the release, not example.com/miner',
  ],
  ['another command', 'runners', container('command'), ['sh', '-c', 'id'], 'the program that the pod is for'],
  [
    'the command of another pod',
    'runners',
    container('command', 1),
    '/app/tick.mjs',
    'the program that the pod is for',
  ],
  ['arguments', 'runners', container('args'), ['--eval', '1'], `${CONTAINER_FIELDS}args`],
  [
    'a command after the start',
    'runners',
    container('lifecycle'),
    { postStart: { exec: { command: ['id'] } } },
    `${CONTAINER_FIELDS}lifecycle`,
  ],
  [
    'all of a Secret in its environment',
    'runners',
    container('envFrom'),
    [{ secretRef: { name: 'smtp' } }],
    `${CONTAINER_FIELDS}envFrom`,
  ],
  ['a terminal', 'runners', container('stdin'), true, `${CONTAINER_FIELDS}stdin`],
  ['another folder', 'runners', container('workingDir'), '/tmp', `${CONTAINER_FIELDS}workingDir`],
  ['more privileges', 'runners', container('securityContext', 'allowPrivilegeEscalation'), true, SECURITY],
  ['a capability', 'runners', container('securityContext', 'capabilities', 'add'), ['SYS_ADMIN'], SECURITY],
  [
    'a root that can be written',
    'runners',
    container('securityContext', 'readOnlyRootFilesystem'),
    false,
    SECURITY,
  ],
  ['a root user of the container', 'runners', container('securityContext', 'runAsUser'), 0, SECURITY],
  [
    'code by NODE_OPTIONS',
    'runners',
    container('env'),
    variable('NODE_OPTIONS', '--import=data:text/javascript,1'),
    `${VARIABLES}NODE_OPTIONS`,
  ],
  [
    'code by NODE_OPTIONS in an annotation of the pod',
    'runners',
    container('env'),
    fieldVariable('NODE_OPTIONS', "metadata.annotations['windlass.dev/account']"),
    `${VARIABLES}NODE_OPTIONS`,
  ],
  [
    'another field of the pod in a variable of its own',
    'runners',
    container('env'),
    fieldVariable('HOST_IP', "metadata.annotations['windlass.dev/account']"),
    `${VARIABLES}HOST_IP`,
  ],
  ['a library', 'runners', container('env'), variable('LD_PRELOAD', '/tmp/a.so'), `${VARIABLES}LD_PRELOAD`],
  [
    'another run store',
    'runners',
    container('env'),
    variable('REDIS_URL', 'redis://elsewhere:6379'),
    `${VARIABLES}REDIS_URL`,
  ],
  [
    'open egress',
    'runners',
    container('env'),
    variable('EGRESS_ALLOW', '0.0.0.0/0'),
    `${VARIABLES}EGRESS_ALLOW`,
  ],
  [
    'an addition to egress that projects may not have, behind one that they may',
    'runners',
    container('env'),
    variable('EGRESS_ALLOW', '10.30.0.0/16,0.0.0.0/0'),
    `${VARIABLES}EGRESS_ALLOW`,
  ],
  [
    'runners without an audit trail',
    'runners',
    container('env'),
    variable('AUDIT_ENABLED', 'false'),
    `${VARIABLES}AUDIT_ENABLED`,
  ],
  [
    'another value of runner.env',
    'runners',
    container('env'),
    variable('HTTPS_PROXY', 'http://eve'),
    `${VARIABLES}HTTPS_PROXY`,
  ],
  [
    'what only ticks are given',
    'runners',
    container('env'),
    variable('WORKFLOW', 'a'),
    `${VARIABLES}WORKFLOW`,
  ],
  [
    'a Secret in a variable',
    'runners',
    container('env'),
    secretVariable('REDIS_PASSWORD', 'smtp'),
    `${VARIABLES}REDIS_PASSWORD`,
  ],
  [
    'the pool Secret in a variable of its own',
    'runners',
    container('env'),
    secretVariable('A', 'windlass-runner'),
    `${VARIABLES}A`,
  ],
  [
    'a probe that runs a command',
    'runners',
    container('livenessProbe'),
    { exec: { command: ['id'] } },
    'only by HTTP',
  ],
  [
    'a probe of another host',
    'runners',
    container('livenessProbe', 'httpGet', 'host'),
    '169.254.169.254',
    'and no other host',
  ],
  ['a port of the node', 'runners', container('ports', 0, 'hostPort'), 9090, NODE],
  ['a volume over the program', 'runners', container('volumeMounts', 0, 'mountPath'), '/app', NODE],
  ['a label of others', 'runners', ['spec', 'template', 'metadata', 'labels', 'app'], 'payments', LABELS],
  [
    'an annotation that injects',
    'runners',
    ['spec', 'template', 'metadata', 'annotations', 'example.com/inject'],
    'true',
    'other annotations instruct other programs',
  ],
  ['too many runners', 'runners', ['spec', 'replicas'], 13, 'at most 12 runners'],
  [
    'a tick of another image',
    'tick',
    tickPod('containers', 0, 'image'),
    'example.com/miner',
    'only the image of the release',
  ],
  ['a tick with a token', 'tick', tickPod('automountServiceAccountToken'), true, ACCOUNT],
  ['a tick of no workflow', 'tick', ['metadata', 'ownerReferences'], [], OWN_TICKS],
  [
    'a tick of another workflow',
    'tick',
    ['metadata', 'labels', 'windlass.dev/workflow'],
    'another',
    OWN_TICKS,
  ],
  ['a tick without its label', 'tick', ['metadata', 'labels', NAME_LABEL], undefined, OWN_TICKS],
  [
    'a tick with the labels of a runner',
    'tick',
    ['spec', 'jobTemplate', 'spec', 'template', 'metadata', 'labels', NAME_LABEL],
    'windlass-runner',
    LABELS,
  ],
  ['a Job of many pods', 'tick', ['spec', 'jobTemplate', 'spec', 'parallelism'], 100, 'one pod at a time'],
  ['a poll pod with the network of the node', 'poll', tickPod('hostNetwork'), true, `${FIELDS}hostNetwork`],
  [
    'a poll pod that runs a tick',
    'poll',
    tickPod('containers', 0, 'command', 1),
    '/app/tick.mjs',
    'the program that the pod is for',
  ],
];
