/** Typed router links that look like Mantine components. */
import { Anchor, Button, Menu, type AnchorProps, type ButtonProps, type MenuItemProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

type Native<Props> = Props & Omit<ComponentProps<'a'>, keyof Props>;

export const TextLink = createLink((props: Native<AnchorProps>) => <Anchor {...props} />);

export const ButtonLink = createLink((props: Native<ButtonProps>) => <Button component="a" {...props} />);

export const MenuLink = createLink((props: Native<MenuItemProps>) => <Menu.Item component="a" {...props} />);
