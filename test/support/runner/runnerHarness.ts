/**
 * What runners have effects on: a model and a mail server, the credentials of both, and a project in a real
 * run store.
 */
import { startHeartbeats } from '../../../runs/heartbeat.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { startMailServer, type MailServer } from '../providers/mail/mailServer.ts';
import {
  startModelServer,
  type ModelServer,
  type ModelServerOptions,
} from '../providers/model/modelServer.ts';
import { startRedis, type TestRedis } from '../runStore/redis.ts';
import { QUICK } from './runnerProcess.ts';
import { openTestProject, startTestRunner, type CredentialTable, type TestProject } from './runnerProject.ts';

export type RunnerHarness = {
  redis: TestRedis;
  conn: RunStoreConnection;
  project: TestProject;
  model: ModelServer;
  mailbox: MailServer;
  /** `llm` and `smtp`. */
  credentials: CredentialTable & Record<'llm' | 'smtp', CredentialTable[string]>;
  /** Forgets what was asked and mailed, and has the model answer as it should. */
  reset: () => void;
  /** A runner in this process that takes over quickly, for as long as `use` lasts. */
  withSuccessor: <T>(runner: string, use: () => Promise<T>, table?: CredentialTable) => Promise<T>;
  close: () => Promise<void>;
};

/** Starts all of it but runners. */
export async function startRunnerHarness(options: ModelServerOptions = {}): Promise<RunnerHarness> {
  const [redis, model, mailbox] = await Promise.all([
    startRedis(),
    startModelServer(options),
    startMailServer(),
  ]);
  const conn = connectRunStore({ url: redis.url, name: 'test' });
  const project = await openTestProject(conn);
  const openai = { baseURL: model.baseURL, apiKeyRef: { name: 's', key: 'apiKey' } };
  const from = 'Orders <orders@example.com>';
  const smtp = { host: '127.0.0.1', port: mailbox.smtpPort, tls: 'None', from } as const;
  const credentials = { llm: { spec: { openai } }, smtp: { spec: { smtp } } };
  return {
    redis,
    conn,
    project,
    model,
    mailbox,
    credentials,
    reset: () => {
      model.requests.length = 0;
      mailbox.messages.length = 0;
      model.setFault(undefined);
    },
    withSuccessor: async (runner, use, table = credentials) => {
      const heartbeats = startHeartbeats({
        url: redis.url,
        project: project.uid,
        runner,
        everyMs: QUICK.everyMs,
      });
      const own = { runner, credentials: table, heartbeats, takeover: QUICK };
      const successor = startTestRunner(conn, project.uid, own);
      try {
        return await use();
      } finally {
        await successor.stop(0);
      }
    },
    close: async () => {
      await conn.close();
      await Promise.all([model.close(), mailbox.close(), redis.stop()]);
    },
  };
}
