/** Where the tab remembers something of the workflow of the editor. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { sessionQuery, userNameOf } from '../../session/session.ts';
import type { TabKey } from '../../ui/tabStore.ts';
import { useEditorPart } from './store.ts';

export function useTabKey(what: string): TabKey {
  const namespace = useEditorPart((state) => state.namespace);
  const workflow = useEditorPart((state) => state.name);
  const { data: session } = useQuery(sessionQuery);
  const user = userNameOf(session);
  return useMemo(() => ({ user, namespace, workflow, what }), [user, namespace, workflow, what]);
}
