/** What the operator knows and has decided about the number of runners of projects, by namespace. */
import { createNotifier, type Notifier } from '../shared/notifier.ts';

/** A HorizontalPodAutoscaler of a runner pool. */
export type Autoscaler = {
  name: string;
  /** The ScaledObject that it belongs to. */
  scaledObject?: string;
  /** Why it sets no number. */
  failure?: string;
};

/** What sets the number of runners of a project beside the operator. */
export type OtherScalers = {
  autoscalers: readonly Autoscaler[];
  /** Why KEDA does not use the ScaledObject of the operator. */
  failure?: string;
};

export type ScalingState = {
  /** The replicas that the engine `Builtin` has decided; none for a project that sleeps. */
  decided: Map<string, number>;
  /** The runners that a project with the engine `Builtin` or `KEDA` needs, by its last reading. */
  needed: Map<string, number>;
  /** Whether the runners of a project sleep; none for a project that this process has not read yet. */
  asleep: Map<string, boolean>;
  /** The projects that wake, and until when one counts as served without a runner. Milliseconds. */
  waking: Map<string, number>;
  /** Notifies of a namespace for which other replicas were decided. */
  changed: Notifier<string>;
  /** Undefined until they were listed. Projects without any are left out. */
  otherScalers: Map<string, OtherScalers> | undefined;
  /** Why the ScaledObject of the operator cannot be written. */
  refusals: Map<string, string>;
  /** Notifies of a namespace with other scalers, or whose ScaledObject was refused or accepted. */
  otherScalersChanged: Notifier<string>;
};

export function createScalingState(): ScalingState {
  return {
    decided: new Map(),
    needed: new Map(),
    asleep: new Map(),
    waking: new Map(),
    changed: createNotifier(),
    otherScalers: undefined,
    refusals: new Map(),
    otherScalersChanged: createNotifier(),
  };
}
