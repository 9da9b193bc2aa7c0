/** The configuration of a tick: its environment, which the operator writes into the CronJob. */
import { readEnvironment, type StoreAccount } from '../environment.ts';

export type TickConfig = {
  project: string;
  workflow: string;
  workflowUid: string;
  revision: string;
  /** The name of the Job, which contains the scheduled time. */
  job: string;
  /** The uid of the Job, because a name may be reused. */
  jobUid: string;
  cronJob: string;
  timeZone: string;
  /** How many seconds after its time the run may still start; undefined: no limit. */
  latestSeconds: number | undefined;
  store: StoreAccount;
};

/** Throws an Error that names every missing variable. */
export function tickConfig(): TickConfig {
  const { required, store, close } = readEnvironment(process.env, 'tick');
  const { LATEST_SECONDS: latest = '' } = process.env;
  const config = {
    project: required('PROJECT_UID'),
    workflow: required('WORKFLOW'),
    workflowUid: required('WORKFLOW_UID'),
    revision: required('REVISION'),
    job: required('JOB_NAME'),
    jobUid: required('JOB_UID'),
    cronJob: required('CRON_JOB'),
    timeZone: required('TIME_ZONE'),
    latestSeconds: latest === '' ? undefined : Number(latest),
    store: store(),
  };
  close();
  return config;
}
