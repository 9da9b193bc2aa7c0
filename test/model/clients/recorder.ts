/** A recorder that goes once over what is behind, and trims once what is too much. */
import { createRecorder } from '../../../runs/record/recorder.ts';
import { createSummarizer } from '../../../runs/record/summarize.ts';
import type { Harness } from '../harness.ts';

export type Recorder = ReturnType<typeof createRecording>;

export function createRecording({ project, store, records }: Harness) {
  const conn = store.connect();
  return {
    record: async () => {
      const ending = new AbortController();
      const recorder = createRecorder({ conn, kube: records.client, project, namespace: 'model' });
      const recording = recorder.run(ending.signal);
      ending.abort();
      await recording;
    },
    trim: async () => void (await createSummarizer(conn, project).trim()),
  };
}
