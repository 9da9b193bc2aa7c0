/** The projects that have routes: those whose data the run store must have. */
import type { WebhookRoute } from '../../api/kinds.ts';
import type { Cache } from '../../kube/cache.ts';
import type { ProjectUid } from '../../store/keys.ts';

export type RoutedProjects = {
  /** The namespace of each. The same map until routes have changed: it is asked for again and again. */
  namespaces(): ReadonlyMap<ProjectUid, string>;
  end(): void;
};

/** Follows the routes until `end` is called. */
export function followRoutedProjects(routes: Pick<Cache<WebhookRoute>, 'list' | 'onChange'>): RoutedProjects {
  let listed: ReadonlyMap<ProjectUid, string> | undefined;
  const list = (): ReadonlyMap<ProjectUid, string> =>
    new Map(routes.list().map(({ metadata: { namespace = '' }, spec }) => [spec.projectUID, namespace]));
  const end = routes.onChange(() => {
    listed = undefined;
  });
  return { namespaces: () => (listed ??= list()), end };
}
