/** Copies a managed workflow, with what was tried on it, into one that nothing manages. */
import { useMemo } from 'react';
import { useTable } from '../../kube/hooks.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { CopyDialog } from '../../workflows/CopyDialog.tsx';
import { createWorkflow } from '../../workflows/create.ts';
import { copyOf } from '../model/copy.ts';
import { useEditor } from '../store/store.ts';

export function EditCopyDialog({ onClose }: { onClose: () => void }) {
  const { namespace, name: original, draft, discard } = useEditor();
  const { data } = useTable(WORKFLOWS, namespace);
  const taken = useMemo(() => new Set(data?.rows.map(({ metadata }) => metadata.name)), [data]);
  return (
    <CopyDialog
      project={namespace}
      taken={taken}
      title="Edit a copy"
      of={draft.spec.displayName ?? original}
      submit="Copy and open"
      copy={(names) => copyOf(draft, names)}
      create={async (...given) => {
        const created = await createWorkflow(...given);
        // What was tried is in the copy: nothing is lost when the page is left.
        discard();
        return created;
      }}
      onClose={onClose}
    >
      The copy is not managed by Git or another tool. It is inactive until you activate it.
    </CopyDialog>
  );
}
