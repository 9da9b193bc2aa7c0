/**
 * An input for text with references or for CEL, with completion, a preview of the value, and references by
 * drag and drop or from a tree.
 */
import { ActionIcon, Input, Popover, Text, Tooltip, type PopoverProps } from '@mantine/core';
import { useId, useRef, useState, type RefObject } from 'react';
import { FieldLabel } from '../FieldLabel.tsx';
import { useFormScope } from '../scope.ts';
import type { CodeHandle, CodeProps } from './CodeInput.tsx';
import { LazyCode } from './LazyCode.tsx';
import { whileWriting, type Preview } from './preview.ts';
import { usePreview } from './usePreview.ts';
import { PreviewLine } from './PreviewLine.tsx';
import { IconBraces } from '@tabler/icons-react';
import { FITTING } from '../../ui/fitting.ts';
import { afterPress } from '../../ui/afterPress.ts';
import classes from './Expression.module.css';
import { ReferenceTree } from './ReferenceTree.tsx';

type Props = {
  label: string;
  value: string;
  onChange: (text: string) => void;
  language: 'template' | 'cel';
  isMultiline?: boolean;
  /** CEL that must evaluate to a boolean. */
  isCondition?: boolean;
  help?: string;
  isRequired?: boolean;
  error?: string | undefined;
  placeholder?: string;
  /** Without a visible label, because the row of the list has one. */
  isBare?: boolean;
  actions?: React.ReactNode;
  onBlur?: () => void;
};

export function ExpressionInput(props: Props) {
  const {
    label,
    value,
    onChange,
    language,
    isMultiline = false,
    isCondition = false,
    isBare = false,
  } = props;
  const { sources, isReadOnly } = useFormScope();
  const [isFocused, setFocused] = useState(false);
  const handle = useRef<CodeHandle>(null);
  const field = useRef<HTMLDivElement>(null);
  const id = useId();
  const preview = usePreview({ value, language, isCondition, sources });
  const shown = whileWriting(preview, { isBeingWritten: isFocused, isMultiline });
  const code: CodeProps = {
    id: `${id}-input`,
    label,
    describedBy: `${id}-preview`,
    value,
    onChange,
    language,
    isMultiline,
    isReadOnly,
    isInvalid: props.error !== undefined || shown.kind === 'wrong',
    sources,
    handle,
    ...(props.placeholder !== undefined && { placeholder: props.placeholder }),
  };
  const buttons = (
    <>
      {props.actions}
      <InsertReference label={label} field={field} onInsert={(text) => handle.current?.insert(text)} />
    </>
  );
  return (
    <Input.Wrapper
      size="xs"
      {...(!isBare && {
        label: <FieldLabel label={label} isRequired={props.isRequired === true} actions={buttons} />,
      })}
      {...(!isBare && props.help !== undefined && { description: props.help })}
      error={isToldBelow(shown) ? undefined : props.error}
      labelElement="div"
      styles={{ label: { display: 'block', width: '100%' }, description: { marginBottom: 4 } }}
      onFocus={() => setFocused(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) afterPress(() => setFocused(false));
        props.onBlur?.();
      }}
    >
      <div ref={field}>
        <LazyCode {...code} />
      </div>
      <PreviewLine id={`${id}-preview`} preview={shown} />
    </Input.Wrapper>
  );
}

/** Whether the preview says what is wrong with the text. */
function isToldBelow({ kind }: Preview): boolean {
  return kind === 'wrong' || kind === 'unfinished';
}

/** Between a field and the tree below it. */
const GAP = 4;
/** With less room below the field the tree opens above it, if there is more. */
const ROOM = 240;

type TreePlace = Pick<PopoverProps, 'position' | 'offset' | 'middlewares'>;

/**
 * The place below the field of the button, which the tree leaves uncovered, or above the button where there
 * is more room. It is not chosen again while the tree is open: the distances differ.
 */
function placeBeside(field: Element | null, button: Element | null): TreePlace {
  const { top, bottom } = button?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
  const end = Math.max(bottom, field?.getBoundingClientRect().bottom ?? 0);
  const room = window.innerHeight - end - GAP;
  const middlewares = { ...FITTING, flip: false };
  return room < ROOM && top > room
    ? { position: 'top-end', offset: GAP, middlewares }
    : { position: 'bottom-end', offset: GAP + end - bottom, middlewares };
}

type InsertProps = {
  label: string;
  /** The tree opens below it. */
  field: RefObject<HTMLElement | null>;
  onInsert: (reference: string) => void;
};

/** Opens a tree of the outputs of earlier nodes, for users who neither drag nor type references. */
function InsertReference({ label, field, onInsert }: InsertProps) {
  const { sources, isReadOnly } = useFormScope();
  const [isOpen, setOpen] = useState(false);
  // What was chosen leaves the focus behind it, in the field.
  const [isChosen, setChosen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const [place, setPlace] = useState<TreePlace>({});
  const show = (isShown: boolean) => {
    if (isShown) setPlace(placeBeside(field.current, button.current));
    setOpen(isShown);
    setChosen(false);
  };
  if (isReadOnly) return null;
  return (
    <Popover
      opened={isOpen}
      onChange={show}
      {...place}
      width={360}
      shadow="md"
      withinPortal
      trapFocus
      returnFocus={!isChosen}
    >
      <Popover.Target>
        <Tooltip label="Insert reference" disabled={isOpen}>
          <ActionIcon
            ref={button}
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={`Insert reference into ${label}`}
            aria-haspopup="dialog"
            onClick={() => show(!isOpen)}
          >
            <IconBraces size={14} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Insert reference">
        <Text size="xs" fw={600} c="dimmed">
          Choose a value to insert
        </Text>
        {sources.nodes.length === 0 && sources.element === undefined ? (
          <Text size="xs">
            Nothing is connected to this node. Connect it to the node whose output it should use.
          </Text>
        ) : (
          <div className={classes['choice']}>
            <ReferenceTree
              sources={sources}
              onPick={(reference) => {
                setOpen(false);
                setChosen(true);
                onInsert(reference);
              }}
            />
          </div>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
