/** Presses in the document of the page. */
import { afterPressesIn } from './press.ts';

export const afterPress = afterPressesIn(document);
