/** Records of ended runs that no runner executed, for what the console shows of them. */
import { ANNOTATION, API_VERSION, LABEL } from '../../../api/group.ts';
import type { RunSpec, RunStatus } from '../../../api/run.ts';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import type { ConsoleSystem } from './consoleSystem.ts';

type Recorded = {
  namespace: string;
  name: string;
  workflow: string;
  input: NonNullable<RunSpec['input']>;
  status: RunStatus;
};

/** Creates the record of a test run as a recorder would. The workflow must be ready. */
export async function addRecord(
  { harness: { client } }: ConsoleSystem,
  { namespace, name, workflow, input, status }: Recorded,
): Promise<void> {
  const { metadata, status: { revision = '' } = {} } = await client.get(workflows, {
    namespace,
    name: workflow,
  });
  await client.create(workflowRuns, {
    metadata: {
      name,
      namespace,
      labels: { [LABEL.workflow]: workflow },
      annotations: { [ANNOTATION.recorded]: 'shown' },
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: 'Workflow',
          name: workflow,
          uid: metadata.uid ?? '',
          controller: true,
        },
      ],
    },
    spec: { workflow, test: true, trigger: { type: 'execute' }, input },
  });
  const recorded = { trigger: 'execute', revision, ...status };
  const options = { type: 'merge', subresource: 'status' } as const;
  await client.patch(workflowRuns, { namespace, name }, { status: recorded }, options);
}
