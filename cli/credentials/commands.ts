/** The commands about credentials of a cluster. */
import { CLUSTER_OPTIONS, SYSTEM_OPTION } from '../cluster/options.ts';
import type { Command } from '../shared/command.ts';

const CHECK: Command = {
  name: 'check',
  summary: 'Check whether credentials work',
  description: [
    'Requests a check of the credentials, waits for its result, and fails if one does not work. A runner of the project signs in with them; the secrets stay in the cluster.',
  ],
  arguments: [
    {
      name: 'credential',
      description: 'Names of credentials. Left out: all of the project.',
      variadic: true,
      optional: true,
      completes: 'credentials',
    },
  ],
  options: [
    { flags: '--timeout <seconds>', description: 'How long to wait for the results.', default: '60' },
    ...CLUSTER_OPTIONS,
  ],
  examples: [
    { command: 'windlass check', does: 'all credentials of the project' },
    { command: 'windlass check smtp llm', does: 'two credentials' },
  ],
  load: () => import('./check.ts'),
};

const CONNECT: Command = {
  name: 'connect',
  summary: 'Sign in to the account of a credential',
  description: [
    'Prints a link at which somebody signs in at the provider, and so connects a credential of kind oauth2. The link works once, for ten minutes.',
    'The gateway makes the link, through a connection that the API server forwards: it needs a kubeconfig with a token, and the right to create pods/portforward in the namespace of the release.',
  ],
  arguments: [{ name: 'credential', description: 'The name of the credential.', completes: 'credentials' }],
  options: [
    { flags: '--open', description: 'Open the link in the browser of this machine, too.' },
    ...CLUSTER_OPTIONS,
    SYSTEM_OPTION,
  ],
  examples: [{ command: 'windlass connect sheets --open', does: 'sign in with the browser of this machine' }],
  load: () => import('./connect.ts'),
};

export const CREDENTIAL_COMMANDS: readonly Command[] = [CHECK, CONNECT];
