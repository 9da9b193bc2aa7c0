/** Downloads a workflow as a YAML file. */
import { getObject } from '../kube/objects.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { notifyFailure } from '../ui/notify.tsx';

/** Reports failures to the user. */
export function exportYaml(namespace: string, name: string): void {
  download(namespace, name).catch((error: unknown) => notifyFailure('Could not export', error));
}

async function download(namespace: string, name: string): Promise<void> {
  const [{ manifestText }, { manifestOf }, workflow] = await Promise.all([
    import('./documents.ts'),
    import('./manifest.ts'),
    getObject(WORKFLOWS, namespace, name),
  ]);
  const file = new Blob([manifestText(manifestOf(workflow))], { type: 'application/yaml' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${name}.yaml`;
  link.click();
  URL.revokeObjectURL(link.href);
}
