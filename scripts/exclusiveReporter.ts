/**
 * A vitest reporter that prints when the exclusive end-to-end tests start. They run one after the other and
 * do not use all processors, so that .ci/run starts other checks beside them when it reads this line.
 */
import type { Reporter, TestModule } from 'vitest/node';

export default class ExclusiveReporter implements Reporter {
  readonly #startedAt = performance.now();
  #isPrinted = false;

  onTestModuleStart({ project }: TestModule): void {
    if (project.name !== 'e2e-exclusive' || this.#isPrinted) return;
    this.#isPrinted = true;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    console.log(`› end-to-end tests one after the other, after ${seconds} s with others`);
  }
}
