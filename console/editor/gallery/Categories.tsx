/** The categories of the gallery as buttons, each with the number of nodes that were found in it. */
import { UnstyledButton } from '@mantine/core';
import type { Offer } from './offers.ts';
import classes from './gallery.module.css';

type Props = {
  all: readonly Offer[];
  found: readonly Offer[];
  /** Undefined: all. */
  chosen: string | undefined;
  onChoose: (category: string | undefined) => void;
};

export function Categories({ all, found, chosen, onChoose }: Props) {
  const counts = new Map(
    [...Map.groupBy(found, ({ category }) => category)].map(([c, { length }]) => [c, length]),
  );
  const names = [...new Set(all.map(({ category }) => category))];
  return (
    <div className={classes['categories']} role="group" aria-label="Categories">
      {[undefined, ...names].map((name) => {
        const number = name === undefined ? found.length : (counts.get(name) ?? 0);
        return (
          <UnstyledButton
            key={name ?? ''}
            className={classes['category'] ?? ''}
            aria-pressed={chosen === name}
            data-empty={number === 0 || undefined}
            onClick={() => onChoose(name)}
          >
            <span>{name ?? 'All'}</span> <span className={classes['count']}>{number}</span>
          </UnstyledButton>
        );
      })}
    </div>
  );
}
