/** The width of the panel, set by dragging its edge or with the arrow keys and stored in the browser. */
import { useLocalStorage } from '@mantine/hooks';
import { useRef } from 'react';
import classes from './NodePanel.module.css';

const LEAST = 320;
const MOST = 900;
const FIRST = 420;
const STEP = 24;

export function usePanelWidth(): { width: number; setWidth: (width: number) => void } {
  const [width, setWidth] = useLocalStorage({
    key: 'windlass.panelWidth',
    defaultValue: FIRST,
    getInitialValueInEffect: false,
  });
  return { width: within(width), setWidth: (next) => setWidth(within(next)) };
}

function within(width: number): number {
  return Number.isFinite(width) ? Math.min(MOST, Math.max(LEAST, Math.round(width))) : FIRST;
}

export function ResizeHandle({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  const from = useRef<{ x: number; width: number }>(null);
  return (
    <div
      className={classes['handle'] ?? ''}
      role="separator"
      aria-label="Width of the panel"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (from.current !== null) onResize(from.current.width + from.current.x - event.clientX);
      }}
      onPointerUp={() => {
        from.current = null;
      }}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') onResize(width + STEP);
        if (key === 'ArrowRight') onResize(width - STEP);
      }}
    />
  );
}
