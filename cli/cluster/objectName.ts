/** How commands name an object. */
import { GROUP } from '../../api/group.ts';
import type { KubeObject } from '../../kube/resource.ts';

/** As `-o name` prints an object. */
export const nameOf = ({ kind, metadata }: KubeObject): string =>
  `${kind.toLowerCase()}.${GROUP}/${metadata.name}`;
