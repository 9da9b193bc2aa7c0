/** The subscriptions of a process in a Redis Cluster: each at the server that has the slot of its channel. */
import type { Subscriber } from './subscriber.ts';

type Subscription = Awaited<ReturnType<Subscriber['subscribe']>>;

type Followed = {
  channel: string;
  onMessage: (message: string | undefined) => void;
  at?: Subscriber | undefined;
  current?: Promise<Subscription> | undefined;
};

export type ClusterSubscriber = Subscriber & {
  /** Moves subscriptions whose channels other servers have now. Messages may be lost, as in an outage. */
  move: () => void;
};

/** `serverOf`: the subscriber at the server that has the channel; undefined where none is known. */
export function createClusterSubscriber(
  serverOf: (channel: string) => Subscriber | undefined,
): ClusterSubscriber {
  const all = new Set<Followed>();
  const place = async (followed: Followed): Promise<boolean> => {
    const server = serverOf(followed.channel);
    if (server === followed.at) return false;
    leave(followed);
    followed.at = server;
    followed.current = server?.subscribe(followed.channel, followed.onMessage);
    await followed.current;
    return true;
  };
  const move = async (followed: Followed): Promise<void> => {
    const hasMoved = await place(followed);
    if (hasMoved && all.has(followed)) followed.onMessage(undefined);
  };
  return {
    subscribe: async (channel, onMessage) => {
      const followed: Followed = { channel, onMessage };
      all.add(followed);
      await place(followed);
      return {
        end: () => {
          all.delete(followed);
          leave(followed);
        },
      };
    },
    move: () => {
      for (const followed of all) void move(followed);
    },
    // Its servers close what is theirs.
    close: () => {
      all.clear();
      return Promise.resolve();
    },
  };
}

function leave({ current }: Followed): void {
  void current?.then((subscription) => subscription.end());
}
