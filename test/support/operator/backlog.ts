/** Runs that wait for a runner. */
import { expect } from 'vitest';
import { workflows } from '../../../operator/shared/resources.ts';
import { submit } from '../../../runs/submit.ts';
import type { OperatorHarness } from './operatorHarness.ts';

/** Events that are submitted at a time: on a busy machine the answers of more would be late. */
const PAGE = 100;

type BacklogProject = { namespace: string; uid: string; workflow: string; trigger: string };

/** Submits so many events of the workflow, all of which are accepted. */
export async function addBacklog(
  { client, conn }: Pick<OperatorHarness, 'client' | 'conn'>,
  { namespace, uid, workflow, trigger }: BacklogProject,
  events: number,
): Promise<void> {
  const { metadata, status } = await client.get(workflows, { namespace, name: workflow });
  const submission = {
    project: uid,
    workflow,
    workflowUid: metadata.uid ?? '',
    revision: status?.revision ?? '',
    trigger,
    input: '{"text_content":"","data_content":{}}',
    bodyHash: '',
    test: false,
  };
  for (let count = 0; count < events; count += PAGE) {
    const page = await Promise.all(Array.from({ length: PAGE }, () => submit(conn, submission)));
    expect(page.filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
  }
}
