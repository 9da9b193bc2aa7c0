/** Tells the store which credentials the project has, so that it marks nodes that name another one. */
import { useEffect } from 'react';
import { useMay } from '../../kube/access.ts';
import { useTable, type LiveTable } from '../../kube/hooks.ts';
import { CREDENTIALS } from '../../kube/resources.ts';
import { credentialFields } from '../../credentials/credentialFields.ts';
import { useEditorPart, useEditorStore } from './store.ts';

/** Reads them only if the draft names one, and the user may list them. */
export function useCredentialCheck(): void {
  const store = useEditorStore();
  const namespace = useEditorPart((state) => state.namespace);
  const namesAny = useEditorPart(({ draft }) =>
    draft.spec.nodes.some((node) => credentialFields(node).length > 0),
  );
  const mayList = useMay({ verb: 'list', resource: CREDENTIALS, namespace });
  const isEnabled = namesAny && mayList;
  const list = useTable(CREDENTIALS, namespace, { enabled: isEnabled });
  const names = isEnabled ? namesIn(list) : undefined;
  // A change of their status leaves the names, and with them what is marked.
  useEffect(
    () => store.setCredentials(names === undefined ? undefined : new Set(names.split(' '))),
    [store, names],
  );
}

/** The names in a fixed order, separated by spaces. Undefined: the list fails, or lacks some of them. */
export function namesIn({
  data,
  error,
}: {
  data?: LiveTable | undefined;
  error: unknown;
}): string | undefined {
  // A list that can no longer be read keeps its last rows.
  if (error !== null || data?.more !== false) return undefined;
  return data.rows
    .map(({ metadata }) => metadata.name)
    .toSorted()
    .join(' ');
}
