/** The current time, for growing durations. */
import { useEffect, useState } from 'react';

const EVERY_MS = 200;

/** The time in milliseconds. It updates only while `isMoving`. */
export function useNow(isMoving: boolean, everyMs = EVERY_MS): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isMoving) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isMoving, everyMs]);
  return now;
}
