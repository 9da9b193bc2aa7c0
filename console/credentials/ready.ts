/** The condition `Ready` of an object. Pure. */
export type Condition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number | undefined;
};

type WithConditions = { conditions?: readonly Condition[] | undefined };

/** Undefined where nobody has looked yet. */
export function readyOf(status: WithConditions | undefined): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
