/** What the person who is signed in may do with the project's workflows. */
import { useMay } from '../kube/access.ts';
import { WORKFLOWS } from '../kube/resources.ts';

export type Rights = { mayCreate: boolean; mayChange: boolean; mayDelete: boolean };

export function useRights(namespace: string): Rights {
  return {
    mayCreate: useMay({ verb: 'create', resource: WORKFLOWS, namespace }),
    mayChange: useMay({ verb: 'patch', resource: WORKFLOWS, namespace }),
    mayDelete: useMay({ verb: 'delete', resource: WORKFLOWS, namespace }),
  };
}
