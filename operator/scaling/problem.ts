/** Why the engine of a project cannot set the number of its runners. Pure. */
import { ended } from '../../kube/conditions.ts';
import type { Reason } from '../../api/conditions.ts';
import type { Scaling } from '../pods/scaling.ts';
import { POOL } from '../shared/names.ts';
import type { Autoscaler, OtherScalers, ScalingState } from './state.ts';

export type ScalingProblem = {
  reason: Extract<Reason, 'ScalingConflict' | 'ScalerFailing'>;
  message: string;
};

/** The problem of the engine of the project, as far as it is known. */
export function scalingProblemOf(
  { otherScalers, refusals }: Pick<ScalingState, 'otherScalers' | 'refusals'>,
  namespace: string,
  engine: Scaling['engine'],
): ScalingProblem | undefined {
  return scalingProblem(engine, otherScalers?.get(namespace) ?? NONE, refusals.get(namespace));
}

const NONE: OtherScalers = { autoscalers: [] };

/** `refusal`: why the ScaledObject of the operator cannot be written. */
export function scalingProblem(
  engine: Scaling['engine'],
  { autoscalers, failure }: OtherScalers,
  refusal: string | undefined,
): ScalingProblem | undefined {
  const rivals = rivalsOf(engine, autoscalers);
  if (rivals.length > 0) return { reason: 'ScalingConflict', message: conflict(engine, rivals) };
  const reasons = [
    ...(refusal === undefined ? [] : [`The ScaledObject ${POOL} cannot be written: ${refusal}`]),
    ...(failure === undefined ? [] : [`KEDA does not use the ScaledObject ${POOL}: ${failure}`]),
    ...autoscalers.flatMap((each) =>
      each.failure === undefined
        ? []
        : [`HorizontalPodAutoscaler ${each.name} sets no number: ${each.failure}`],
    ),
  ];
  if (reasons.length === 0) return undefined;
  return {
    reason: 'ScalerFailing',
    message: `The number of runners stays as it is. ${ended(reasons.join('; '))}`,
  };
}

/** The autoscalers that set the number although the engine does not expect them. */
function rivalsOf(engine: Scaling['engine'], autoscalers: readonly Autoscaler[]): readonly Autoscaler[] {
  if (engine === 'External') return autoscalers.length > 1 ? autoscalers : [];
  return engine === 'KEDA' ? autoscalers.filter(({ scaledObject }) => scaledObject !== POOL) : autoscalers;
}

function conflict(engine: Scaling['engine'], rivals: readonly Autoscaler[]): string {
  const names = rivals.map(({ name, scaledObject }) =>
    scaledObject === undefined
      ? `HorizontalPodAutoscaler ${name}`
      : `ScaledObject ${scaledObject} (HorizontalPodAutoscaler ${name})`,
  );
  const list = names.join(', ');
  return engine === 'External'
    ? `Several autoscalers set the number of runners: ${list}. Keep one of them.`
    : `Another autoscaler sets the number of runners, too: ${list}. Delete it, or set runners.autoscaling.engine to External.`;
}
