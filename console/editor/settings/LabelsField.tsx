/** The labels of the workflow, by which the list is filtered. They are no part of the draft. */
import { TagsInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { patchObject } from '../../kube/objects.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { notifyFailure } from '../../ui/notify.tsx';
import { labelChange, labelProblem, ownLabels } from '../../workflows/labels.ts';
import { useMayPublish } from '../store/rights.ts';
import { useEditor, useEditorStore } from '../store/store.ts';

export function LabelsField() {
  const store = useEditorStore();
  const { workflow, namespace, name, mode, isDeleted } = useEditor();
  const mayChange = useMayPublish() && mode === 'edit' && !isDeleted;
  const [problem, setProblem] = useState<string>();
  const change = useMutation({
    mutationFn: (wanted: readonly string[]) =>
      patchObject(
        WORKFLOWS,
        { namespace, name },
        { metadata: { labels: labelChange(store.get().workflow, wanted) } },
      ),
    onSuccess: (changed) => store.update(changed),
    onError: (error) => notifyFailure('Could not change the labels', error),
  });
  const set = (next: string[]): void => {
    const found = next.map(labelProblem).find((each) => each !== undefined);
    setProblem(found);
    if (found === undefined && !change.isPending) change.mutate(next);
  };
  return (
    <section aria-label="Labels">
      <Title order={3} size="h6" mb="xs">
        Labels
      </Title>
      <TagsInput
        size="xs"
        label="Labels"
        description="The list of workflows can be filtered by them: team=billing, or a word. They change at once, and are not part of the draft."
        placeholder={mayChange ? 'Type a label and press Enter' : ''}
        value={change.isPending ? [...change.variables] : ownLabels(workflow)}
        onChange={set}
        readOnly={!mayChange}
        error={problem}
        splitChars={[',', ' ']}
      />
    </section>
  );
}
