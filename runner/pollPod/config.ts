/** The configuration of a poll pod: its environment, which the operator writes into the CronJob. */
import { readEnvironment, type Environment, type StoreAccount } from '../environment.ts';

export type PollConfig = {
  project: string;
  namespace: string;
  /** Identifies this pod among the poll pods. */
  pod: string;
  /** How long after this pod the next one starts, in milliseconds. */
  periodMs: number;
  store: StoreAccount;
  /**
   * `allow`, `deny`: rules beside the default ones. `around`: the addresses of the API server and the node,
   * denied.
   */
  egress: { allow: string[]; deny: string[]; around: string[] };
  /** Outside a cluster: path of the kubeconfig. */
  kubeconfig?: string;
  /** In a pod: the address of the API server. */
  env: Environment;
};

const MINUTE_SECONDS = 60;

/** Throws an Error that names every missing variable. */
export function pollConfig(): PollConfig {
  const env = process.env;
  const { required, list, store, close } = readEnvironment(env, 'poll pod');
  const config = {
    project: required('PROJECT_UID'),
    namespace: required('POD_NAMESPACE'),
    pod: required('POD_NAME'),
    periodMs: Number(env['POLL_PERIOD_SECONDS'] ?? MINUTE_SECONDS) * 1_000,
    store: store(),
    egress: {
      allow: list('EGRESS_ALLOW'),
      deny: list('EGRESS_DENY'),
      around: [...list('KUBERNETES_SERVICE_HOST'), ...list('HOST_IP')],
    },
    ...(env['KUBECONFIG'] && { kubeconfig: env['KUBECONFIG'] }),
    env,
  };
  close();
  return config;
}
