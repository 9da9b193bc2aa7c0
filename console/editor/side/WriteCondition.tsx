/** Opens the dialog that has a condition written by a model. Hidden from those who cannot use it. */
import { Button } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { EdgeEnds } from '../model/graph.ts';
import { useMayBuild } from '../store/rights.ts';

const ConditionWriter = lazy(async () => ({
  default: (await import('../build/ConditionWriter.tsx')).ConditionWriter,
}));

type Props = { ends: EdgeEnds; value: string; onAccept: (when: string) => void };

export function WriteCondition({ onAccept, ...props }: Props) {
  const mayBuild = useMayBuild();
  const [isOpen, setOpen] = useState(false);
  if (!mayBuild) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconSparkles size={14} />}
        onClick={() => setOpen(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        Ask a model for a condition
      </Button>
      {isOpen && (
        <Suspense>
          <ConditionWriter
            {...props}
            onAccept={(when) => {
              onAccept(when);
              setOpen(false);
            }}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
