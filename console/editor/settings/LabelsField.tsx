/** The labels of the workflow, by which the list is filtered. They are no part of the draft. */
import { TagsInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type KeyboardEvent } from 'react';
import { patchObject } from '../../kube/objects.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { notifyFailure, notifySuccess } from '../../ui/notify.tsx';
import { labelChange, labelsAfter, readLabels, removedBy, type LabelChange } from '../../workflows/labels.ts';
import { useMayPublish } from '../store/rights.ts';
import { useEditor, useEditorStore } from '../store/store.ts';

export function LabelsField() {
  const { mode, isDeleted } = useEditor();
  const mayChange = useMayPublish() && mode === 'edit' && !isDeleted;
  const { labels, change } = useLabels();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const enter = (): void => {
    const read = readLabels(text);
    setText(read.rest);
    setProblem(read.problem);
    change([...labels, ...read.labels]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, repeat, nativeEvent } = event;
    if (text.trim() !== '' && (key === ',' || (key === 'Enter' && !nativeEvent.isComposing))) {
      event.preventDefault();
      enter();
    }
    // In an empty field the key removes a label: not while somebody deletes a text with it.
    if (key === 'Backspace' && (text !== '' || repeat)) event.stopPropagation();
  };
  return (
    <section
      // A pasted text is text of the field: the input would enter it at once.
      onPasteCapture={(event) => event.stopPropagation()}
    >
      <Title order={3} size="h6" mb="xs">
        Labels
      </Title>
      <TagsInput
        size="xs"
        aria-label="Labels"
        description="The list of workflows can be filtered by them: team=billing, or a word. They change at once, and are not part of the draft."
        placeholder={mayChange ? 'Type a label and press Enter' : ''}
        value={labels}
        onChange={change}
        searchValue={text}
        onSearchChange={(next) => {
          setText(next);
          setProblem(undefined);
        }}
        onKeyDown={onKeyDown}
        acceptValueOnBlur={false}
        onBlur={() => mayChange && enter()}
        readOnly={!mayChange}
        error={problem}
      />
    </section>
  );
}

/** `removed`: the labels that the change removes, as they are written. */
type Write = { labels: LabelChange; removed: string[] };

/** The labels after all changes so far, which are written one after the other. */
function useLabels() {
  const store = useEditorStore();
  const { workflow, namespace, name } = useEditor();
  const [pending, setPending] = useState<readonly Write[]>([]);
  const { mutate } = useMutation({
    scope: { id: `labels of ${namespace}/${name}` },
    mutationFn: ({ labels }: Write) => patchObject(WORKFLOWS, { namespace, name }, { metadata: { labels } }),
    onSuccess: (changed, { removed }) => {
      store.update(changed);
      if (removed.length === 0) return;
      const undo = () => write({ labels: labelChange([], removed), removed: [] });
      notifySuccess(`Label removed: ${removed.join(', ')}.`, { text: 'Undo', onClick: undo });
    },
    onError: (error) => notifyFailure('Could not change the labels', error),
    onSettled: (_changed, _error, done) => setPending((all) => all.filter((each) => each !== done)),
  });
  const write = (next: Write): void => {
    setPending((all) => [...all, next]);
    mutate(next);
  };
  const labels = labelsAfter(
    workflow,
    pending.map((each) => each.labels),
  );
  const change = (wanted: readonly string[]): void => {
    const changed = labelChange(labels, wanted);
    if (Object.keys(changed).length > 0) write({ labels: changed, removed: removedBy(changed, labels) });
  };
  return { labels, change };
}
