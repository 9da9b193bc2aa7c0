/** Where a problem of the draft is, before its message. */
import { hasSetting } from '../model/settings.ts';
import { nodeOf } from '../model/model.ts';
import { edgeId, edgesOf } from '../model/graph.ts';
import { ProblemLink, SettingLink } from './ProblemLink.tsx';
import { edgeAt, placeText } from './placeText.ts';
import { useEditor } from '../store/store.ts';

type Props = {
  /** The ID of a node, or `from → to` of a connection; empty: the workflow. */
  place: string;
  setting: string | undefined;
  /** Called before the node, connection or settings open: a dialog closes. */
  onLeave: () => void;
};

/** A link to the node, connection or setting. Nothing where the message alone names the place. */
export function ProblemPlace({ place, setting, onLeave }: Props) {
  const { draft, openNode, openEdge } = useEditor();
  if (setting === undefined ? place === '' : !hasSetting(setting)) return null;
  const name = placeText(place, draft.spec);
  const edge = edgeAt(place);
  const isShown =
    edge === undefined
      ? nodeOf(draft, place) !== undefined
      : edgesOf(draft.spec).some((other) => edgeId(other) === edgeId(edge));
  const open = (): void => {
    onLeave();
    if (edge === undefined) openNode(place, 'parameters');
    else openEdge(edge);
  };
  return (
    <>
      {setting !== undefined ? (
        <SettingLink setting={setting} onLeave={onLeave}>
          Settings
        </SettingLink>
      ) : isShown ? (
        <ProblemLink onClick={open}>{name}</ProblemLink>
      ) : (
        <b>{name}</b>
      )}
      {': '}
    </>
  );
}
