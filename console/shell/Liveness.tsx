/** Says when what is shown is not live. While it is, nothing is said. */
import { Badge, Tooltip } from '@mantine/core';
import { useLiveness } from '../kube/hooks.ts';
import { useEffect, useState } from 'react';

/** Short interruptions are not worth a word. */
const GRACE_MS = 1_500;

export function LivenessBadge() {
  const liveness = useLiveness();
  const isLive = liveness === 'live' || liveness === 'paused';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (isLive) return setShown(false);
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [isLive]);
  return (
    <span role="status" style={{ flex: 'none' }}>
      {isShown && (
        <Tooltip label="The connection to the gateway is interrupted. The page may be out of date. The console reconnects automatically.">
          <Badge color="orange" variant="light" tt="none" radius="sm" fw={500} style={{ flex: 'none' }}>
            Not live
          </Badge>
        </Tooltip>
      )}
    </span>
  );
}
