/** A node in the gallery: icon, name, description, the services that it works with, and what it needs. */
import { Combobox } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { memo } from 'react';
import { credentialKindsText } from '../../credentials/choices.ts';
import { brandIcon, choiceIcon } from './icons.tsx';
import type { Offer } from './offers.ts';
import classes from './gallery.module.css';

/** Begins the value of an option that stands under its category, too. */
export const RECENT = 'recent:';

/** Few components of the library: there can be hundreds of nodes. */
export const OfferOption = memo(function OfferOption({ offer, prefix }: { offer: Offer; prefix: string }) {
  const { key, label, description, needs, brands, color, choice } = offer;
  const Icon = choiceIcon(choice);
  return (
    <Combobox.Option value={`${prefix}${key}`} className={classes['option'] ?? ''}>
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
              needs a credential: {credentialKindsText(needs)}
            </span>
          </span>
        )}
      </span>
    </Combobox.Option>
  );
});

function BrandTag({ brand }: { brand: Offer['brands'][number] }) {
  const Icon = brandIcon(brand);
  return (
    <span className={classes['tag']}>
      <Icon size={13} aria-hidden />
      {brand}
    </span>
  );
}
