/**
 * The text that a model is writing. It is appended to the page outside of React and in blocks, so that only
 * the last block is laid out again and 100 kB stream smoothly. It scrolls along unless the user scrolls up.
 */
import { useEffect, useRef } from 'react';
import { visibleText } from '../../ui/visibleText.ts';
import type { RunAt } from './runAt.ts';
import type { LiveTexts } from './liveText.ts';
import { textsOf, useFollowed } from './runStore.ts';
import classes from './LiveText.module.css';

type Props = { at: RunAt; nodeId: string; label?: string };

/** A block of this length ends with its line. */
const BLOCK = 2_000;
const NEAR_END_PX = 24;

export function LiveText({ at, nodeId, label = `Text of ${nodeId}` }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useFollowed(at);
  useEffect(() => {
    const texts = textsOf(at);
    return box.current === null || texts === undefined ? undefined : showTexts(box.current, texts, nodeId);
  }, [at.namespace, at.workflow, at.run, nodeId]);
  return (
    <div
      ref={box}
      className={classes['text'] ?? ''}
      role="log"
      aria-live="off"
      aria-label={label}
      tabIndex={0}
    />
  );
}

function showTexts(box: HTMLElement, texts: LiveTexts, nodeId: string): () => void {
  let shown = 0;
  let beginning = -1;
  let block: HTMLElement | undefined;
  const show = (): void => {
    const { text, beginning: now } = texts.read(nodeId);
    if (now !== beginning) {
      box.replaceChildren();
      [shown, beginning, block] = [0, now, undefined];
    }
    if (text.length === shown) return;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
    for (const piece of piecesOf(visibleText(text.slice(shown)))) {
      if (block === undefined || endsBlock(block)) {
        block = document.createElement('div');
        box.append(block);
      }
      block.append(piece);
    }
    shown = text.length;
    if (isAtEnd) box.scrollTop = box.scrollHeight;
  };
  show();
  const unsubscribe = texts.subscribe(show);
  return () => {
    unsubscribe();
    box.replaceChildren();
  };
}

/** Whole lines, so that blocks end at line breaks. */
function piecesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function endsBlock(block: HTMLElement): boolean {
  const last = block.lastChild?.nodeValue ?? '';
  return last.endsWith('\n') && (block.textContent?.length ?? 0) > BLOCK;
}
