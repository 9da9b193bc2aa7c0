/** Hands a workflow to the browser as a file, as people keep it in Git. */
import { getObject } from '../kube/objects.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { tellFailure } from '../ui/tell.tsx';
import { manifestOf } from './manifest.ts';

/** Says it where that fails. */
export function exportYaml(namespace: string, name: string): void {
  download(namespace, name).catch((error: unknown) => tellFailure('Could not export', error));
}

async function download(namespace: string, name: string): Promise<void> {
  const [{ manifestText }, workflow] = await Promise.all([
    import('./documents.ts'),
    getObject(WORKFLOWS, namespace, name),
  ]);
  const file = new Blob([manifestText(manifestOf(workflow))], { type: 'application/yaml' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${name}.yaml`;
  link.click();
  URL.revokeObjectURL(link.href);
}
