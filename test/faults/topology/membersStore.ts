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
import { FEW_RECORDS, type FailingServer, type FailoverStore, type ReplicatedStore } from './failovers.ts';

/** The gateway that stays with the former primary. */
const GATEWAY_OF_FORMER_PRIMARY = 'gateway-0';
const START_MS = 60_000;

/** The members of the chart. `confirming`: how many replicas confirm what is acknowledged. */
export function membersStore(confirming: number): FailoverStore {
  const opened = Promise.withResolvers<ReplicatedStore>();
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
      operatorEnv: FEW_RECORDS,
    };
  };
  return { start, storeOf: () => opened.promise };
}

function storeOf(members: Members, hosts: Hosts, links: readonly Link[]): ReplicatedStore {
  const place = parseRunStoreURL(members.url);
  if (place.topology !== 'sentinel') throw new Error('the members have sentinels');
  const servers = members.all.map((member) => failingServer(member, hosts, links));
  const primary = async () => {
    const located = await locatePrimary(place);
    return servers.find(({ name }) => 'primary' in located && name === located.primary.host);
  };
  return {
    primary,
    settled: async (timeoutMs) => {
      const isSettled = async () => {
        const ready = await Promise.all(members.all.map((member) => member.isReady()));
        return ready.every(Boolean) && (await primary()) !== undefined;
      };
      await pollUntil('members that are ready', isSettled, { timeoutMs, everyMs: 500 });
    },
  };
}

function failingServer(member: Member, hosts: Hosts, links: readonly Link[]): FailingServer {
  return {
    name: member.host,
    kill: async () => {
      await member.kill();
      return () => member.start();
    },
    freeze: async () => {
      const thaw = member.freeze();
      return async () => thaw();
    },
    // It must not become the primary again.
    empty: async () => {
      await member.lose();
      await member.start();
      return async () => undefined;
    },
    // One gateway hears no sentinel, so that it stays with it.
    partition: async () => {
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
