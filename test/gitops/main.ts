/**
 * `npm run test:gitops`: Flux's kustomize-controller applies workflows and credentials, and judges them by
 * their conditions; Argo CD's own test executes our health scripts. Ends with 1 when something differs.
 */
import { parseArgs } from 'node:util';
import { ensurePackages } from '../cluster/packages.ts';
import { createProgress, type Progress } from '../support/process/progress.ts';
import { ARGO_CD_VERSION, testHealthScripts } from './argocd.ts';
import { startFlux } from './flux.ts';
import { ensureKustomizeController, fluxVersion } from './program.ts';
import { SCENES } from './scenes.ts';

const HELP = `npm run test:gitops [-- --argocd] [-- --only WORD]

Starts Flux's kustomize-controller and the operator on an API server, without a cluster, and plays what people do with Git: create,
change, break, roll back, prune, environments, dependencies. Builds the controller from its Go module the first time, which takes
minutes. Ends with 1 where Flux does not see what docs/gitops.md says.

  --argocd     instead, executes Argo CD's own test of health scripts over docs/gitops/resource_customizations; compiles
               for minutes the first time
  --only WORD  scenes whose title contains it`;

/** Plays the scenes one after the other; returns how many failed. */
async function playScenes(progress: Progress, only: string): Promise<number> {
  const scenes = SCENES.filter(({ title }) => title.includes(only));
  if (scenes.length === 0) throw new Error(`no scene has ${only} in its title`);
  await ensurePackages(['redis-server'], progress);
  const program = await ensureKustomizeController(progress);
  const flux = await progress.step('start API server, operator and controller', () => startFlux(program));
  let failed = 0;
  try {
    for (const scene of scenes) {
      const notes: string[] = [];
      try {
        await progress.step(scene.title, () => scene.play(flux, (line) => notes.push(line)));
      } catch (error) {
        failed += 1;
        notes.push(error instanceof Error ? error.message : String(error));
      }
      for (const line of notes) console.log(`    ${line}`);
    }
  } finally {
    await flux.stop();
  }
  console.log(
    `kustomize-controller ${await fluxVersion()}: ${scenes.length - failed} passed, ${failed} failed`,
  );
  return failed;
}

const { values } = parseArgs({
  options: {
    argocd: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const progress = createProgress(process.stderr);
if (values.help) console.log(HELP);
else {
  try {
    if (values.argocd) {
      const cases = await testHealthScripts(progress);
      console.log(`Argo CD ${ARGO_CD_VERSION}: ${cases} cases passed`);
    } else if ((await playScenes(progress, values.only)) > 0) process.exitCode = 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
