/** Links in the text of a problem: they have its color. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { hasSetting } from '../model/settings.ts';
import { useEditor } from '../store/store.ts';

type LinkProps = { onClick: () => void; children: ReactNode };

export function ProblemLink({ onClick, children }: LinkProps) {
  return (
    <Anchor component="button" type="button" size="sm" c="inherit" underline="always" onClick={onClick}>
      {children}
    </Anchor>
  );
}

type SettingProps = {
  /** A place in the spec, such as `history.ttl`. */
  setting: string;
  /** Called before the settings open: a dialog closes. */
  onLeave?: () => void;
  children: ReactNode;
};

/** Opens the settings at this one. Nothing, where the form does not have it. */
export function SettingLink({ setting, onLeave, children }: SettingProps) {
  const { openSettings } = useEditor();
  if (!hasSetting(setting)) return null;
  const open = (): void => {
    onLeave?.();
    openSettings(setting);
  };
  return <ProblemLink onClick={open}>{children}</ProblemLink>;
}
