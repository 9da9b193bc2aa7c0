import { expect, test } from 'vitest';
import { readClusterConfig } from '../../cluster/config.ts';

test('files lie where XDG says', () => {
  const config = readClusterConfig({ XDG_CACHE_HOME: '/c', XDG_STATE_HOME: '/s' });
  expect(config).toMatchObject({ cacheFolder: '/c/windlass', clustersFolder: '/s/windlass/clusters' });
});

test('the current context is that of the first file in KUBECONFIG', () => {
  expect(readClusterConfig({ KUBECONFIG: '/one:/two' }).currentKubeconfig).toBe('/one');
});

test('an unknown provider is refused with those that there are', () => {
  expect(() => readClusterConfig({ WINDLASS_CLUSTER: 'docker' })).toThrow('kind, builtin or current');
});
