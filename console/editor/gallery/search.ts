/** Finds nodes by the words that people type. Pure. */
import type { Offer } from './offers.ts';

/**
 * Where a word is found, best first: the beginning of the name, a whole phrase of the synonyms, the name, the
 * synonyms, the description.
 */
const [BEGINNING, PHRASE, NAME, SYNONYM, DESCRIPTION, NOWHERE] = [0, 1, 2, 3, 4, 5];

/**
 * The offers that contain all words of the text, best matches first: those in names come before those in
 * synonyms and in descriptions. Each word matches the beginning of a word, or any part of a name. Without
 * words: all offers, in their order.
 */
export function matchingOffers(offers: readonly Offer[], text: string): Offer[] {
  const words = wordsOf(text);
  if (words.length === 0) return [...offers];
  const phrase = words.join(' ');
  return offers
    .map((offer) => ({ offer, rank: rankOf(indexOf(offer), words, phrase) }))
    .filter(({ rank }) => rank < NOWHERE)
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ offer }) => offer);
}

type Index = {
  name: string;
  names: string[];
  phrases: ReadonlySet<string>;
  synonyms: string[];
  description: string[];
};

/** Built once for each offer: a search runs with each key. */
const indexes = new WeakMap<Offer, Index>();

function indexOf(offer: Offer): Index {
  const known = indexes.get(offer);
  if (known !== undefined) return known;
  const index = {
    name: wordsOf(offer.label).join(' '),
    names: wordsOf(`${offer.label} ${offer.key}`),
    phrases: new Set(offer.synonyms.split(',').map((phrase) => wordsOf(phrase).join(' '))),
    synonyms: wordsOf(`${offer.synonyms} ${offer.brands.join(' ')}`),
    description: wordsOf(`${offer.description} ${offer.category} ${offer.needs.join(' ')}`),
  };
  indexes.set(offer, index);
  return index;
}

/** The worst place in which one of the words is found. */
function rankOf(index: Index, words: readonly string[], phrase: string): number {
  if (index.name.startsWith(phrase)) return BEGINNING;
  if (index.phrases.has(phrase)) return PHRASE;
  return Math.max(...words.map((word) => placeOf(index, word)));
}

function placeOf({ name, names, synonyms, description }: Index, word: string): number {
  const begins = (other: string) => other.startsWith(word);
  if (names.some(begins) || (word.length > 2 && name.includes(word))) return NAME;
  if (synonyms.some(begins)) return SYNONYM;
  return description.some(begins) ? DESCRIPTION : NOWHERE;
}

/** The words of a text in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
