/** Whether a pod is ready. */
import type { Pod } from '../../kube/resource.ts';

/** By its condition `Ready`. */
export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
