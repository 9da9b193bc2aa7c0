/**
 * Brings what the tests of a project start: Debian's programs and the cluster's binaries, where they are
 * missing.
 */
import { ensureBinaries } from '../cluster/build.ts';
import { clusterPackages, ensurePackages } from '../cluster/packages.ts';
import { ensureGitopsJudge } from './cluster/gitopsJudge.ts';
import { createProgress } from './process/progress.ts';
import { ensureS3Program } from './providers/s3/s3Program.ts';

/**
 * Installs and builds what is missing, saying so. The first time takes minutes; afterwards it takes no time.
 */
export async function prepareForTests(project: 'integration' | 'e2e'): Promise<void> {
  const progress = createProgress(process.stderr);
  const packages =
    project === 'e2e' ? clusterPackages : (['redis-server', 'dovecot-imapd', 'fish', 'zsh'] as const);
  await ensurePackages([...packages, 'chromium-headless-shell'], progress);
  await ensureBinaries(progress);
  if (project !== 'integration') return;
  await ensureS3Program(progress);
  await ensureGitopsJudge(progress);
}
