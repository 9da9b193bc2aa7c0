/**
 * Tells a cluster that works from one that only says so: after a stop the API server still has what was true
 * before it, so nothing is believed that is older than the programs that run now.
 */
import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { pollUntil } from '../../support/time/poll.ts';
import { network, type NodeLayout } from './layout.ts';
import type { Node } from './node.ts';

const timeoutMs = 120_000;

/** Gives what `kubectl get` prints as JSON. */
export type GetJson = (args: string[]) => Promise<unknown>;

const nodeSchema = z.object({
  status: z.object({
    conditions: z.array(
      z.object({ type: z.string(), status: z.string(), lastHeartbeatTime: z.coerce.date() }),
    ),
  }),
});

const podsSchema = z.object({
  items: z.array(
    z.object({
      spec: z.object({ nodeName: z.string().optional() }),
      status: z.object({
        containerStatuses: z
          .array(
            z.object({ state: z.object({ running: z.object({ startedAt: z.coerce.date() }).optional() }) }),
          )
          .default([]),
      }),
    }),
  ),
});

/** The kubelet that runs now has said that the node is ready. */
export async function waitForNode(place: NodeLayout, node: Node, getJson: GetJson): Promise<void> {
  const isReady = async () => {
    const since = (await node.parts())['kubelet']?.since;
    const { status } = nodeSchema.parse(await getJson(['node', place.name]));
    const ready = status.conditions.find(({ type }) => type === 'Ready');
    return since && ready?.status === 'True' && ready.lastHeartbeatTime >= wholeSecond(since);
  };
  await pollUntil(`a ready node ${place.name}`, isReady, { timeoutMs, everyMs: 250 });
}

/**
 * No pod of the node is said to run since before the node's start: what is said of its pods is true again.
 */
export async function waitForFreshPods(place: NodeLayout, getJson: GetJson): Promise<void> {
  const started = wholeSecond((await stat(place.configuration)).mtime);
  const areFresh = async () => {
    const { items } = podsSchema.parse(await getJson(['pods', '--all-namespaces']));
    const own = items.filter(({ spec }) => spec.nodeName === place.name);
    const containers = own.flatMap(({ status }) => status.containerStatuses);
    return containers.every(({ state }) => !state.running || state.running.startedAt >= started);
  };
  await pollUntil('the restart of the pods', areFresh, { timeoutMs, everyMs: 250 });
}

/** DNS answers at its service's address, which takes the pod, its endpoint and the rules of kube-proxy. */
export async function waitForDns(node: Node): Promise<void> {
  const isReady = async () => (await node.probe(`http://${network.dnsService}:8181/ready`)) === 200;
  await pollUntil('an answer of the cluster DNS', isReady, { timeoutMs });
}

/** The API server tells times in whole seconds. */
function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}
