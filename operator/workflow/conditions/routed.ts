/** The condition `Routed`. Pure. */
import { keptRevisionNote } from '../../../api/keptRevision.ts';
import type { Routing } from '../../gateways/view.ts';
import { SHOWN, type Facts, type Update } from './facts.ts';

export function routed(facts: Facts): Update {
  const type = 'Routed';
  const { route, unserved } = facts;
  if (unserved?.reason === 'BotTaken') return { type, status: 'False', ...unserved };
  switch (route.kind) {
    case 'invalid':
      return { type, status: 'False', reason: 'InvalidSpec', message: keptMessage(route.keeps) };
    case 'store-unavailable': {
      const message =
        'The run store cannot be reached, so the spec is not in effect yet. The operator tries again.';
      return { type, status: 'False', reason: 'StoreUnavailable', message };
    }
    case 'unauthorized':
      return { type, status: 'False', reason: 'Unauthorized', message: route.message };
    case 'name-taken':
      return { type, status: 'False', reason: 'RevisionNameTaken', message: route.message };
    case 'applied':
      return routedBy(route.routing, facts);
  }
}

function keptMessage(keeps: string | undefined): string {
  if (keeps === undefined)
    return 'No gateway serves the workflow while the spec is invalid: see the condition Valid.';
  return keptRevisionNote(keeps);
}

function routedBy(routing: Routing, { active, suspended }: Facts): Update {
  const type = 'Routed';
  switch (routing.kind) {
    case 'NoGateway': {
      const message =
        'No gateway replica is ready. Inspect the gateway: kubectl get pods --all-namespaces -l app.kubernetes.io/name=windlass,app.kubernetes.io/component=gateway';
      return { type, status: 'False', reason: 'NoGateway', message };
    }
    case 'Lagging': {
      const message = `These gateway replicas do not serve the current spec yet: ${routing.replicas.slice(0, SHOWN).join(', ')}.`;
      return { type, status: 'False', reason: 'WaitingForReplicas', message };
    }
    case 'Served': {
      const state = suspended ? 'suspended' : 'inactive';
      const message = active
        ? 'Every ready gateway replica serves the current spec.'
        : `Every ready gateway replica has the current spec: the workflow is ${state}.`;
      return { type, status: 'True', reason: 'Routed', message };
    }
  }
}
