/** The options of every command that talks to a cluster. */
import type { Option } from '../shared/command.ts';

export const CLUSTER_OPTIONS: readonly Option[] = [
  {
    flags: '-n, --namespace <namespace>',
    description: 'The project. Left out: the namespace of the context.',
  },
  { flags: '--context <name>', description: 'The context of the kubeconfig. Left out: the current one.' },
  {
    flags: '--kubeconfig <file>',
    description: 'The kubeconfig. Left out: the files in KUBECONFIG, or ~/.kube/config.',
  },
];

/** For commands that talk to the gateway. */
export const SYSTEM_OPTION: Option = {
  flags: '--system-namespace <namespace>',
  description: 'The namespace of the release of the chart, where the gateway is.',
  default: 'windlass-system',
};
