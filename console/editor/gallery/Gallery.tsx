/**
 * The gallery of nodes: search, categories and the nodes that were used last, by keyboard or pointer. The
 * chosen node is added at its place.
 */
import {
  CloseButton,
  Combobox,
  Text,
  TextInput,
  Title,
  useCombobox,
  type ComboboxStore,
} from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { schemas } from 'windlass:schemas';
import { useLastResults } from '../../runs/live/runStore.ts';
import { triggerOf } from '../model/model.ts';
import { useEditorPart, useEditorStore, type PickerPlace } from '../store/store.ts';
import { Categories } from './Categories.tsx';
import { offersGeneral, searchHint } from './hints.ts';
import { insertNode } from './insert.ts';
import { OfferOption, RECENT } from './OfferOption.tsx';
import { stepOffers, TRIGGER_OFFERS, type Offer } from './offers.ts';
import { recentOffers } from './recent.ts';
import { useRecent } from './useRecent.ts';
import { matchingOffers } from './search.ts';
import { useKnownCredentials } from './useKnownCredentials.ts';
import classes from './gallery.module.css';

const STEP_OFFERS = stepOffers(schemas);
/** Branches lead from a node to others. */
const WITHOUT_SWITCH = STEP_OFFERS.filter(({ choice }) => choice.kind !== 'switch');

const SwitchForm = lazy(async () => ({ default: (await import('./SwitchForm.tsx')).SwitchForm }));

export function Gallery({ place }: { place: PickerPlace }) {
  const store = useEditorStore();
  const known = useKnownCredentials(useEditorPart((state) => state.namespace));
  const hasTrigger = useEditorPart(({ draft }) => triggerOf(draft) !== undefined);
  const outputs = useLastResults();
  const { recent, use } = useRecent();
  const [text, setText] = useState('');
  const [category, setCategory] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const combobox = useCombobox({ opened: true });
  const isTrigger = place.kind === 'trigger' || !hasTrigger;
  const from = fromOf(place);
  const all = isTrigger ? TRIGGER_OFFERS : from === undefined ? WITHOUT_SWITCH : STEP_OFFERS;
  const [isSwitch, setSwitch] = useState(false);
  const found = useMemo(() => matchingOffers(all, text), [all, text]);
  const shown = category === undefined ? found : found.filter((offer) => offer.category === category);
  useEffect(() => input.current?.focus(), [place]);
  useFirstOption(combobox, shown.length > 0, [text, category, all]);
  const choose = (chosen: string): void => {
    const offer = all.find(({ key }) => key === chosen);
    if (offer === undefined) return;
    use(offer.key);
    if (offer.choice.kind === 'switch') return setSwitch(true);
    insertNode(store, place, offer.choice, { known, outputs });
  };
  if (isSwitch && from !== undefined)
    return (
      <Suspense>
        <SwitchForm key={from} from={from} onBack={() => setSwitch(false)} />
      </Suspense>
    );
  return (
    <Combobox store={combobox}>
      <div className={classes['head']}>
        <Title order={2} size="h5">
          {isTrigger ? 'Choose a trigger' : titleOf(place)}
        </Title>
        <CloseButton aria-label="Close" onClick={() => store.closePanel()} />
      </div>
      <Combobox.EventsTarget>
        <TextInput
          ref={input}
          mx={12}
          mb={8}
          aria-label="Search nodes"
          data-gallery
          placeholder="Search nodes"
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </Combobox.EventsTarget>
      <Hint text={text} isTrigger={isTrigger} />
      <div className={classes['body']}>
        {!isTrigger && (
          <Categories
            all={all}
            found={found}
            chosen={category}
            onChoose={(next) => {
              setCategory(next);
              // The keys go on to move in the list.
              input.current?.focus();
            }}
          />
        )}
        <div className={classes['options']} tabIndex={0} role="group" aria-label="Node types">
          <Results
            all={all}
            shown={shown}
            recent={category === undefined && text.trim() === '' ? recentOffers(all, recent) : []}
            text={text}
            isTrigger={isTrigger}
            onChoose={choose}
          />
        </div>
      </div>
    </Combobox>
  );
}

/** Highlights the first option. What is offered where nothing was found must be chosen on purpose. */
function useFirstOption(
  { selectFirstOption, resetSelectedOption }: ComboboxStore,
  hasFound: boolean,
  sought: readonly unknown[],
): void {
  useEffect(() => {
    if (hasFound) selectFirstOption();
    else resetSelectedOption();
  }, [hasFound, ...sought]);
}

/** More options than the highest window shows. */
const IN_SIGHT = 40;

type ResultsProps = {
  all: readonly Offer[];
  shown: readonly Offer[];
  recent: readonly Offer[];
  text: string;
  isTrigger: boolean;
  onChoose: (key: string) => void;
};

function Results({ all, shown, recent, text, isTrigger, onChoose }: ResultsProps) {
  // The list opens with those that are in sight; the others follow at once.
  const isComplete = useDeferredValue(true, false);
  const isEmpty = shown.length === 0;
  const instead =
    isEmpty && !isTrigger && offersGeneral(text) ? all.filter(({ key }) => GENERAL.has(key)) : [];
  const categories = [...Map.groupBy(shown, (offer) => offer.category)];
  const inOrder = [...recent, ...categories.flatMap(([, offers]) => offers)];
  const brief = new Set(isComplete ? [] : inOrder.slice(IN_SIGHT));
  const nothing = isEmpty && <Combobox.Empty>No node matches "{text.trim()}".</Combobox.Empty>;
  if (isEmpty && instead.length === 0) return nothing;
  return (
    <Combobox.Options
      aria-label="Nodes"
      // The search field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={({ target }) => {
        const option = (target as Element).closest<HTMLElement>('[data-key]');
        if (option?.dataset['key'] !== undefined) onChoose(option.dataset['key']);
      }}
    >
      {nothing}
      <Section name="For anything else" offers={instead} brief={brief} />
      <Section name="Recently used" offers={recent} brief={brief} prefix={RECENT} />
      {categories.map(([name, offers]) => (
        <Section key={name} name={name} offers={offers} brief={brief} />
      ))}
    </Combobox.Options>
  );
}

type SectionProps = { name: string; offers: readonly Offer[]; brief: ReadonlySet<Offer>; prefix?: string };

function Section({ name, offers, brief, prefix = '' }: SectionProps) {
  if (offers.length === 0) return null;
  return (
    <Combobox.Group label={name}>
      {offers.map((offer) => (
        <OfferOption key={offer.key} offer={offer} prefix={prefix} isBrief={brief.has(offer)} />
      ))}
    </Combobox.Group>
  );
}

/** The nodes that can do what no other node does. */
const GENERAL: ReadonlySet<string> = new Set(['http_request', 'code']);

function Hint({ text, isTrigger }: Pick<ResultsProps, 'text' | 'isTrigger'>) {
  const hint = searchHint(text, isTrigger ? 'triggers' : 'steps');
  if (hint === undefined) return null;
  return (
    <Text size="xs" px={12} pb={8} role="status">
      {hint}
    </Text>
  );
}

/** The node after which the new one comes, if there is one. */
function fromOf(place: PickerPlace): string | undefined {
  if (place.kind === 'after') return place.node;
  return place.kind === 'between' ? place.edge.from : undefined;
}

function titleOf(place: PickerPlace): string {
  if (place.kind === 'between') return 'Insert a node';
  if (place.kind === 'inside') return 'Add a node to the group';
  return place.kind === 'after' ? 'Add the next node' : 'Add a node';
}
