/**
 * The replicated run store of the failovers: the three members of the chart on hosts of their own. One
 * gateway reaches their sentinels over links that can be cut.
 */
import { parseRunStoreURL } from '../../../api/runStoreURL.ts';
import { locatePrimary } from '../../../store/sentinel.ts';
import { makeHosts, type Host, type Hosts } from '../../support/network/hosts.ts';
import { makeMembers, type Member, type Members } from '../../support/runStore/members.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startLink, type Link } from '../storm/link.ts';
import type { StartStore } from '../storm/harness.ts';

export type MembersStore = {
  all: readonly Member[];
  /** The member that more than half of the sentinels name now. */
  primary: () => Promise<Member | undefined>;
  /** Waits until all members have all data, and one of them is the primary. */
  settled: (timeoutMs: number) => Promise<void>;
  /**
   * Separates a member from the others, and one gateway from all sentinels, until the returned function
   * is called.
   */
  partition: (member: Member) => Promise<() => Promise<void>>;
};

/** The gateway that stays with the former primary. */
const GATEWAY_OF_FORMER_PRIMARY = 'gateway-0';
const START_MS = 60_000;
/** The API server shares the processors: most runs become summaries. */
const RECORD_WRITES = '20';

/** What starts the members, and how the caller gets hold of them afterwards. */
export function membersStore(confirming: number): { start: StartStore; opened: Promise<MembersStore> } {
  const opened = Promise.withResolvers<MembersStore>();
  const start: StartStore = async ({ password }, closers) => {
    const hosts = await makeHosts(3);
    closers.add(() => hosts.remove());
    const passwords = { operator: password, gateway: password };
    const members = await makeMembers({ passwords, hosts: hosts.all });
    closers.add(() => members.stop());
    const links = await Promise.all(hosts.all.map(({ address }) => startLink(members.sentinelPort, address)));
    for (const link of links) closers.add(() => link.close());
    const url = (replicas: number) => members.url.replace(/\?.*/, `?replicas=${replicas}`);
    const linked = links.map(({ port }) => `127.0.0.1:${port}`).join(',');
    await Promise.all(members.all.map((member) => member.start()));
    const store = storeOf(members, hosts, links);
    await store.settled(START_MS);
    opened.resolve(store);
    return {
      redisURL: (pod) =>
        pod === GATEWAY_OF_FORMER_PRIMARY
          ? url(confirming).replace(/\/\/[^/]*/, `//${linked}`)
          : url(confirming),
      direct: { url: url(0), ...members.account },
      operatorEnv: { PROJECT_RECORD_WRITES_PER_SECOND: RECORD_WRITES },
    };
  };
  return { start, opened: opened.promise };
}

function storeOf(members: Members, hosts: Hosts, links: readonly Link[]): MembersStore {
  const place = parseRunStoreURL(members.url);
  if (place.topology !== 'sentinel') throw new Error('the members have sentinels');
  const primary = async () => {
    const located = await locatePrimary(place);
    return members.all.find(({ host }) => 'primary' in located && host === located.primary.host);
  };
  return {
    all: members.all,
    primary,
    settled: async (timeoutMs) => {
      const isSettled = async () => {
        const ready = await Promise.all(members.all.map((member) => member.isReady()));
        return ready.every(Boolean) && (await primary()) !== undefined;
      };
      await pollUntil('members that are ready', isSettled, { timeoutMs, everyMs: 500 });
    },
    partition: async (member) => {
      const host = hosts.all.find(({ address }) => address === member.host) as Host;
      const join = await hosts.partition(host);
      const mends = links.map((link) => link.begin('silent'));
      return async () => {
        await Promise.all(mends.map((mend) => mend()));
        await join();
      };
    },
  };
}
