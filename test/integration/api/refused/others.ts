/**
 * Credentials, project settings and changes of a run's status that the API server refuses, with its words.
 */

export const ref = { name: 'mail', key: 'password' };
const smtp = { host: 'mail.example.com', from: 'shop@example.com' };

export const REFUSED_CREDENTIALS: [sentence: string, spec: unknown, says: RegExp][] = [
  ['no kind', {}, /exactly one kind/],
  ['two kinds', { smtp, openai: { apiKeyRef: ref } }, /exactly one kind/],
  [
    'a user name without a password',
    { smtp: { ...smtp, username: 'ada' } },
    /username and passwordRef belong together/,
  ],
  [
    'a sender that is no address',
    { smtp: { ...smtp, from: 'not an address' } },
    /spec\.smtp\.from: .*from is not an email address: write orders@example\.com/,
  ],
  [
    'two logins for HTTP',
    { http: { bearer: { tokenRef: ref }, query: { name: 'k', valueRef: ref } } },
    /exactly one of basic, bearer/,
  ],
  [
    'a header of the connection',
    { http: { header: { name: 'Content-Length', valueRef: ref } } },
    /the connection sets this header itself/,
  ],
  [
    'a custom provider without addresses',
    { oauth2: { clientID: 'a' } },
    /requires authorizationURL and tokenURL/,
  ],
  [
    'a URL in the place of a host',
    { http: { bearer: { tokenRef: ref }, allowedHosts: ['https://api.example.com/v1'] } },
    /allowedHosts\[0\]: .*an allowed host must not have a path or query: write api.example.com,[^*]*$/,
  ],
  [
    'an entry with an empty name in it',
    { http: { bearer: { tokenRef: ref }, allowedHosts: ['*', '*..'] } },
    /allowedHosts\[1\]: .*an allowed host must be a host name or IP address/,
  ],
  ['a secret in it', { smtp: { ...smtp, password: 'secret' } }, /unknown field "spec\.smtp\.password"/],
];

const ended = { phase: 'Succeeded', epoch: 5, sequence: 9 };
export const running = { phase: 'Running', epoch: 5, sequence: 9 };

export const REFUSED_STATUSES: [sentence: string, status: unknown, next: unknown, says: RegExp][] = [
  ['another phase after the end', ended, { phase: 'Failed' }, /the run has ended/],
  ['a run that goes on after the end', ended, { phase: 'Running', epoch: 6 }, /the run has ended/],
  ['the end taken away', ended, { phase: null }, /the run has ended/],
  ['no status at all', running, null, /the status of a run cannot be removed/],
  ['an older epoch', running, { epoch: 4, sequence: 20 }, /a newer state of the run is already recorded/],
  [
    'an older sequence of the same epoch',
    running,
    { sequence: 8 },
    /a newer state of the run is already recorded/,
  ],
  ['no epoch', running, { epoch: null }, /a newer state of the run is already recorded/],
];

const limited = (requests: object, limits: object) => ({ runners: { resources: { requests, limits } } });

export const REFUSED_PROJECT_SETTINGS: [sentence: string, spec: unknown, says: RegExp][] = [
  ['no runners', { runners: { replicas: 0 } }, /replicas.* should be greater than or equal to 1/],
  [
    'a number of runners and autoscaling',
    { runners: { replicas: 2, autoscaling: { engine: 'Builtin', max: 3 } } },
    /replicas and autoscaling exclude each other/,
  ],
  [
    'fewer runners at most than at least',
    { runners: { autoscaling: { engine: 'Builtin', min: 3, max: 2 } } },
    /autoscaling: .*min must not be more than max/,
  ],
  [
    'no bound of the runners',
    { runners: { autoscaling: { engine: 'KEDA', min: 3 } } },
    /Builtin and KEDA require max/,
  ],
  [
    'bounds that only others can set',
    { runners: { autoscaling: { engine: 'External', min: 3 } } },
    /External takes neither min nor max/,
  ],
  [
    'no runner at night',
    { runners: { autoscaling: { engine: 'Builtin', min: 0, max: 2 } } },
    /autoscaling.min.* should be greater than or equal to 1/,
  ],
  [
    'a toleration of nothing',
    { runners: { tolerations: [{ operator: 'Equal' }] } },
    /must have the operator Exists/,
  ],
  [
    'more than its limit',
    limited({ cpu: '2', memory: '1Gi' }, { cpu: '1500m', memory: '512Mi' }),
    /requests.cpu must not be more than limits.cpu[^]*requests.memory must not be more than limits.memory/,
  ],
  [
    'more disk than its limit',
    limited({ 'ephemeral-storage': '2Gi' }, { 'ephemeral-storage': '1Gi' }),
    /requests.ephemeral-storage must not be more than limits.ephemeral-storage/,
  ],
  [
    'a value that no label has',
    { runners: { nodeSelector: { pool: 'a b' } } },
    /nodeSelector.pool: .*should match/,
  ],
  [
    'a value that is too long',
    { runners: { nodeSelector: { pool: 'a'.repeat(64) } } },
    /nodeSelector.pool: Too long/,
  ],
  [
    'a taint that no node has',
    { runners: { tolerations: [{ key: 'a b', operator: 'Exists' }] } },
    /tolerations\[0\].key: .*should match/,
  ],
  ['no room for a runner', limited({}, { memory: '64Mi' }), /limits.memory must be at least 128Mi/],
  [
    'a timeout that ends every run',
    { workflowDefaults: { timeout: '0s' } },
    /timeout: .*must be a duration from 1s to 365d/,
  ],
  [
    'a history without an end',
    { workflowDefaults: { history: { ttl: '100000d' } } },
    /ttl: .*must be a duration from 0s to 3650d/,
  ],
  [
    'pods of another namespace',
    {
      runners: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'kubernetes.io/hostname', namespaceSelector: {} },
            ],
          },
        },
      },
    },
    /unknown field .*namespaceSelector/,
  ],
  ['a field of pods', { runners: { hostNetwork: true } }, /unknown field "spec.runners.hostNetwork"/],
];
