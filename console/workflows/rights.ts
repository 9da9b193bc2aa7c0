/** What the person who is signed in may do with the project's workflows. */
import { useMemo } from 'react';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS } from '../kube/resources.ts';

export type Rights = { mayCreate: boolean; mayChange: boolean; mayDelete: boolean };

export function useRights(namespace: string): Rights {
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace });
  const mayChange = useMay({ verb: 'patch', resource: WORKFLOWS, namespace });
  const mayDelete = useMay({ verb: 'delete', resource: WORKFLOWS, namespace });
  return useMemo(() => ({ mayCreate, mayChange, mayDelete }), [mayCreate, mayChange, mayDelete]);
}
