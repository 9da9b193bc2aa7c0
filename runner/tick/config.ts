/** What a tick is told from outside: its environment, which the operator writes into the CronJob. */

export type TickConfig = {
  project: string;
  workflow: string;
  workflowUid: string;
  revision: string;
  /** The name of the Job, which says for when it was made. */
  job: string;
  /** Its uid, since a name may be used again. */
  jobUid: string;
  cronJob: string;
  timeZone: string;
  /** How late the run may start and still count for its time, in seconds; undefined: it always counts. */
  latestSeconds: number | undefined;
  store: { url: string; username?: string; password?: string; caFile?: string };
};

type Environment = Record<string, string | undefined>;

/**
 * Reads the environment by hand: a tick lives for a moment, and loading a schema library would take half of
 * it.
 */
function readTickConfig(env: Environment): TickConfig {
  const missing: string[] = [];
  const required = (name: string): string => {
    const { [name]: value = '' } = env;
    if (value === '') missing.push(name);
    return value;
  };
  const { REDIS_USERNAME: username, REDIS_PASSWORD: password, REDIS_CA_FILE: caFile } = env;
  const { LATEST_SECONDS: latest } = env;
  const config = {
    project: required('PROJECT_UID'),
    workflow: required('WORKFLOW'),
    workflowUid: required('WORKFLOW_UID'),
    revision: required('REVISION'),
    job: required('JOB_NAME'),
    jobUid: required('JOB_UID'),
    cronJob: required('CRON_JOB'),
    timeZone: required('TIME_ZONE'),
    latestSeconds: latest === undefined || latest === '' ? undefined : Number(latest),
    store: {
      url: required('REDIS_URL'),
      ...(username && { username }),
      ...(password && { password }),
      ...(caFile && { caFile }),
    },
  };
  if (missing.length > 0) throw new Error(`The tick's environment lacks ${missing.join(', ')}.`);
  return config;
}

/** The tick's own configuration. Throws an Error that names what is missing. */
export function tickConfig(): TickConfig {
  return readTickConfig(process.env);
}
