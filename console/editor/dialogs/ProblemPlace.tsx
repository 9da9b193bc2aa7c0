/** Where a problem of the draft is, before its message. Import it lazily only: the CEL compiler is large. */
import { hasSetting } from '../model/settings.ts';
import { nodeOf } from '../model/model.ts';
import { placeText } from './liveProblems.ts';
import { ProblemLink, SettingLink } from './ProblemLink.tsx';
import { useEditor } from '../store/store.ts';

type Props = {
  /** The ID of a node, or `from → to` of a connection; empty: the workflow. */
  place: string;
  setting: string | undefined;
  /** Called before the node or the settings open: a dialog closes. */
  onLeave: () => void;
};

/** A link to the node or setting. Nothing where the message alone names the place. */
export function ProblemPlace({ place, setting, onLeave }: Props) {
  const { draft, openNode } = useEditor();
  if (setting === undefined ? place === '' : !hasSetting(setting)) return null;
  const name = placeText(place, draft.spec);
  const open = (): void => {
    onLeave();
    openNode(place, 'parameters');
  };
  return (
    <>
      {setting !== undefined ? (
        <SettingLink setting={setting} onLeave={onLeave}>
          Settings
        </SettingLink>
      ) : nodeOf(draft, place) === undefined ? (
        <b>{name}</b>
      ) : (
        <ProblemLink onClick={open}>{name}</ProblemLink>
      )}
      {': '}
    </>
  );
}
