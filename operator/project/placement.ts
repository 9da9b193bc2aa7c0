/** Where the pods of a project run, as parts of their specs. Pure. */
import { POOL_LABELS } from '../shared/names.ts';
import type { Placement } from '../pods/settings.ts';

/** Of a pod that is no runner: beside which pods it runs does not matter, since it lives for moments. */
export function placed({ nodeSelector, tolerations, affinity, priorityClassName }: Placement) {
  return {
    ...(nodeSelector && Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(affinity?.nodeAffinity && { affinity: { nodeAffinity: affinity.nodeAffinity } }),
  };
}

const APART = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    {
      weight: 100,
      podAffinityTerm: {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchLabels: { ...POOL_LABELS } },
      },
    },
  ],
};

/** Of a runner: preferably on another node than the others of its project, unless the settings say something else. */
export function placedRunner(placement: Placement) {
  return { ...placed(placement), affinity: { podAntiAffinity: APART, ...placement.affinity } };
}
