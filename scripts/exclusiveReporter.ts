/**
 * A reporter of vitest, which says when the end-to-end tests begin that are executed one after the other:
 * they leave some of the processors' time, which .ci/run has a use for.
 */
import type { Reporter, TestModule } from 'vitest/node';

export default class ExclusiveReporter implements Reporter {
  readonly #began = performance.now();
  #isSaid = false;

  onTestModuleStart({ project }: TestModule): void {
    if (project.name !== 'e2e-exclusive' || this.#isSaid) return;
    this.#isSaid = true;
    const seconds = Math.round((performance.now() - this.#began) / 1_000);
    console.log(`› end-to-end tests one after the other, after ${seconds} s with others`);
  }
}
