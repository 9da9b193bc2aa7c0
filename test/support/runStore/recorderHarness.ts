/**
 * What recorders work with: a real API server with our kinds, behind a faults that can misbehave, and a real
 * run store.
 */
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { putRevision } from '../../../runs/revisions.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import { sharedApiServer } from '../cluster/sharedApiServer.ts';
import { createCollectedLog, type CollectedLog } from '../logs/collectedLog.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../cluster/kubeApiFaults.ts';
import { PLAIN_REVISION } from '../data/plainRevision.ts';
import { newProject, startRunStore, type TestStore } from './runStore.ts';

export type RecorderHarness = {
  /** Directly, as an administrator. */
  kube: KubeClient;
  /** Through the faults, as the recorders. */
  recording: KubeClient;
  faults: KubeApiFaults;
  store: TestStore;
  stop(): Promise<void>;
};

export async function startRecorderHarness(): Promise<RecorderHarness> {
  const server = await sharedApiServer();
  const kube = createClient(server.connection);
  const faults = await startKubeApiFaults(server.connection);
  const recording = createClient(faults.connection);
  const store = await startRunStore({ appendfsync: 'no' });
  return {
    kube,
    recording,
    faults,
    store,
    stop: async () => {
      await store.stop();
      await recording.close();
      await kube.close();
      await faults.stop();
      await server.stop();
    },
  };
}

/** A project whose namespace has its name, for one test. */
export type RecordedProject = {
  project: string;
  /** What its recorders say. */
  log: CollectedLog;
  startRecorder(): void;
  /** Ends its recorders. */
  end(): Promise<void>;
};

export async function openRecordedProject({
  kube,
  recording,
  store,
}: Pick<RecorderHarness, 'kube' | 'recording'> & {
  store: Pick<TestStore, 'conn'>;
}): Promise<RecordedProject> {
  const project = await newProject(store.conn);
  await kube.create(namespaces, { metadata: { name: project } });
  // That of `submissionOf`: without it nobody knows what may be recorded.
  await putRevision(store.conn, project, 'orders-1', PLAIN_REVISION);
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const log = createCollectedLog();
  return {
    project,
    log,
    startRecorder: () => {
      const recorder = createRecorder({
        conn: store.conn,
        kube: recording,
        project,
        namespace: project,
        log,
      });
      running.push(recorder.run(stopping.signal));
    },
    end: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
