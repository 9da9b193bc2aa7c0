/** What a poll pod is told from outside: its environment, which the operator writes into the CronJob. */

type Environment = Record<string, string | undefined>;

export type PollConfig = {
  project: string;
  namespace: string;
  /** Who looks, among those that do. */
  pod: string;
  store: { url: string; username?: string; password?: string; caFile?: string };
  /**
   * Where pollers may connect to beside the Internet, and where they may not: also neither to the API server
   * nor to the node.
   */
  egress: { allow: string[]; deny: string[]; around: string[] };
  /** Outside a cluster: the kubeconfig to use. */
  kubeconfig?: string;
  /** What the pod says about the API server. */
  env: Environment;
};

/**
 * Reads the environment by hand: a pod lives for moments, and loading a schema library would take long of
 * them.
 */
function readPollConfig(env: Environment): PollConfig {
  const missing: string[] = [];
  const required = (name: string): string => {
    const { [name]: value = '' } = env;
    if (value === '') missing.push(name);
    return value;
  };
  const list = (name: string): string[] => {
    const { [name]: value = '' } = env;
    return value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  };
  const { REDIS_USERNAME: username, REDIS_PASSWORD: password, REDIS_CA_FILE: caFile } = env;
  const { KUBECONFIG: kubeconfig } = env;
  const around = [...list('KUBERNETES_SERVICE_HOST'), ...list('HOST_IP')];
  const config = {
    project: required('PROJECT_UID'),
    namespace: required('POD_NAMESPACE'),
    pod: required('POD_NAME'),
    store: {
      url: required('REDIS_URL'),
      ...(username && { username }),
      ...(password && { password }),
      ...(caFile && { caFile }),
    },
    egress: { allow: list('EGRESS_ALLOW'), deny: list('EGRESS_DENY'), around },
    ...(kubeconfig && { kubeconfig }),
    env,
  };
  if (missing.length > 0) throw new Error(`The poll pod's environment lacks ${missing.join(', ')}.`);
  return config;
}

/** The pod's own configuration. Throws an Error that names what is missing. */
export function pollConfig(): PollConfig {
  return readPollConfig(process.env);
}
