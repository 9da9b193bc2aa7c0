/** The preview of an expression with the last outputs. */
import { useEffect, useState } from 'react';
import type { Sources } from '../source.ts';
import { previewOf, type Preview } from './preview.ts';

type Given = { value: string; language: 'template' | 'cel'; isCondition: boolean; sources: Sources };

type CelModule = typeof import('./celPreview.ts');

const PLAIN: Preview = { kind: 'plain' };

/** The CEL compiler is loaded on first use. */
export function usePreview({ value, language, isCondition, sources }: Given): Preview {
  const cel = useCel(language === 'cel');
  if (language === 'template') return previewOf(value, sources);
  return cel === undefined || value.trim() === '' ? PLAIN : cel.previewCel(value, sources, isCondition);
}

function useCel(isWanted: boolean): CelModule | undefined {
  const [module, setModule] = useState<CelModule>();
  useEffect(() => {
    let isHere = true;
    const load = async () => {
      const loaded = await import('./celPreview.ts');
      if (isHere) setModule(loaded);
    };
    if (isWanted) void load();
    return () => {
      isHere = false;
    };
  }, [isWanted]);
  return module;
}
