/** What the operator keeps about all projects between reconciles. */
import type { Log } from '../../kube/log.ts';
import type { Scan } from '../../store/scan.ts';
import { createAuthorityReader, type AuthorityReader } from '../pods/authority.ts';
import type { OperatorConfig } from '../shared/config.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { Served } from './olderCredentials.ts';
import type { AppliedPool } from './pool.ts';

/** The maps are by namespace. Losing them costs writes that change nothing. */
export type Projects = {
  applied: Map<string, AppliedPool & { served: Served }>;
  /** How far the data of a deleted project is removed from the run store. */
  closing: Map<string, Scan>;
  /** The namespaces that may have objects of a pool although they have no Deployment. */
  begun: Set<string>;
  readAuthority: AuthorityReader;
  /** The certificate authorities of the run store have changed. */
  authorityChanged: Notifier<void>;
};

export function createProjects(config: Pick<OperatorConfig, 'REDIS_CA_FILE'>, log: Log): Projects {
  return {
    applied: new Map(),
    closing: new Map(),
    begun: new Set(),
    readAuthority: createAuthorityReader(config, log),
    authorityChanged: createNotifier(),
  };
}
