/**
 * The part of client-node that Windlass uses. Named in a static import, so that bundles leave out the rest:
 * 14 MB of types of all APIs.
 */
export { KubeConfig } from '@kubernetes/client-node';
