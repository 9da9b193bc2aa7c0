/** What a test run that repeats another one takes over of its mocks and its model. Pure. */
import type { Testing } from '../../api/mock.ts';

/**
 * The mocks and the model of the run itself, and what it leaves out of them from the run that it repeats.
 * What happens without a mock belongs to the mocks.
 */
export function inherit(own: Testing | undefined, origin: Testing | undefined): Testing | undefined {
  if (!own && !origin) return undefined;
  const { unmocked, ...rest } = origin ?? {};
  return { ...rest, ...(unmocked && !own?.mocks && { unmocked }), ...own };
}

/**
 * Why the mocks and the model are not taken over; undefined if they are. Whoever creates the run need not be
 * the person who was admitted to use the credential of the model: the API server asks for that right only
 * where a run names the credential itself.
 */
export function inheritanceProblem(
  own: Testing | undefined,
  origin: Testing | undefined,
  run: string,
): string | undefined {
  const { model: { credential, model = '', node } = {} } = origin ?? {};
  if (own?.model || credential === undefined) return undefined;
  const named = JSON.stringify({ ...(node !== undefined && { node }), credential, model });
  return `Run ${run} asked a model with the credential ${credential} of its spec.model, which a repetition must name itself, because that requires the right to use the credential: create a WorkflowRun with spec.model: ${named}.`;
}
