/** Follows what this page published until it is live, or until it is known why not. */
import { useEffect, useRef } from 'react';
import type { WorkflowObject } from '../../kube/resources.ts';
import { endProgress, notifyProgress } from '../../ui/notify.tsx';
import { useEditorPart } from '../store/store.ts';
import { activationOf, type Activation } from './activation.ts';
import { ActivationProgress } from './ActivationProgress.tsx';

const NOTICE = 'publication';

/** Shows the progress in a notification. `onShow` opens what shows more of a problem. */
export function usePublicationNotice(workflow: WorkflowObject, onShow: () => void): void {
  const generation = useEditorPart(({ published }) => published);
  /** The generation that is followed; undefined once that has ended. */
  const followed = useRef<number>(undefined);
  const isBusy = useRef(false);
  useEffect(() => {
    followed.current = generation;
  }, [generation]);
  useEffect(() => {
    if (followed.current === undefined) return;
    const end = (): void => {
      followed.current = undefined;
    };
    const { kind, word } = activationOf(workflow);
    // Somebody stopped it meanwhile.
    if (kind === 'off' || kind === 'suspended') return endProgress(NOTICE);
    if (kind === 'on') end();
    const isProblem = kind === 'stuck' || kind === 'behind';
    isBusy.current = kind === 'settling';
    notifyProgress(NOTICE, {
      title: TITLES[kind] ?? word,
      message: <ActivationProgress workflow={workflow} hasWord={false} />,
      state: isProblem ? 'failed' : kind === 'on' ? 'done' : 'busy',
      onClose: end,
      ...(isProblem && { link: { text: 'Show', onClick: onShow } }),
    });
  }, [workflow, generation]);
  useEffect(
    () => () => {
      if (followed.current !== undefined) endProgress(NOTICE, isBusy.current ? 'Published' : undefined);
    },
    [],
  );
}

const TITLES: Partial<Record<Activation['kind'], string>> = {
  settling: 'Published, taking effect',
  on: 'Published and live',
};
