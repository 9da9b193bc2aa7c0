/** A node in the gallery: icon, name, description, the services that it works with, and what it needs. */
import { IconKey } from '@tabler/icons-react';
import { memo } from 'react';
import { credentialKindsText } from '../../credentials/kindLabels.ts';
import { brandIcon, choiceIcon } from './icons.tsx';
import type { Offer } from './offers.ts';
import classes from './gallery.module.css';

/** Begins the ID of an option that stands under its category, too. */
export const RECENT = 'recent:';

type Props = { offer: Offer; prefix: string; isBrief: boolean };

/**
 * An option of the combobox, as `useCombobox` finds it, but of plain elements: there can be hundreds of
 * nodes. The list handles the pointer. `isBrief`: only the name, for options that nobody sees yet.
 */
export const OfferOption = memo(function OfferOption({ offer, prefix, isBrief }: Props) {
  const { key, label } = offer;
  return (
    <div
      role="option"
      id={`node-${prefix}${key}`}
      data-combobox-option
      data-key={key}
      className={classes['option']}
    >
      {isBrief ? label : <Details offer={offer} />}
    </div>
  );
});

function Details({ offer }: { offer: Offer }) {
  const { label, description, needs, brands, color, choice } = offer;
  const Icon = choiceIcon(choice);
  return (
    <>
      <span
        className={classes['icon']}
        style={{
          background: `var(--mantine-color-${color}-light)`,
          color: `var(--mantine-color-${color}-light-color)`,
        }}
        aria-hidden
      >
        <Icon size={18} />
      </span>
      <span className={classes['words']}>
        <span className={classes['label']}>{label}</span>{' '}
        <span className={classes['description']}>{description}</span>{' '}
        {brands.length > 0 && (
          <span className={classes['tags']}>
            {brands.map((brand) => (
              <BrandTag key={brand} brand={brand} />
            ))}
          </span>
        )}{' '}
        {needs.length > 0 && (
          <span className={classes['tags']}>
            <span className={classes['tag']}>
              <IconKey size={12} aria-hidden />
              Needs a credential: {credentialKindsText(needs)}
            </span>
          </span>
        )}
      </span>
    </>
  );
}

function BrandTag({ brand }: { brand: Offer['brands'][number] }) {
  const Icon = brandIcon(brand);
  return (
    <span className={classes['tag']}>
      <Icon size={13} aria-hidden />
      {brand}
    </span>
  );
}
