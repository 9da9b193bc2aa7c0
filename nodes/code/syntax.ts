/** Checks the syntax of sources without executing them. */
import { loadModules } from './modules.ts';
import { CodeVm, type SyntaxProblem } from './vm.ts';

/** Makes a VM, and returns the check, which answers at once. */
export async function createSyntaxCheck(): Promise<(source: string) => SyntaxProblem | undefined> {
  const vm = await CodeVm.create(await loadModules());
  return (source) => vm.check(source);
}
