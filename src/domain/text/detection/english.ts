/** Frequent English words. */
export const english =
  "a about after all also am an and any are as at be because been before being both but by can can't could " +
  "did do does doesn't doing don't down each em even every few first for from get give go good got had has " +
  "hat have he hello her here hi him his how i i'm if in into is isn't it it's its just like made make many " +
  "may me might more most much must my new no not now of off on one only or other our out over own people " +
  "please said same say sed see she should since so some such take than thank thanks that that's the their " +
  "them then there these they they're this those through time to too two under until up us use used very " +
  "was way we we're welcome well were what when where which while who why will with won't would yes you " +
  "you're your";

/**
 * Frequent words of other languages that also occur in English texts: in names, abbreviations and
 * phrases, or as English words with another meaning.
 */
export const inEnglishTexts =
  "ada ai al ale ali amiga amigo amigos amis ana anne ant antes ay baba bare barn bat beau belle ben bet bo " +
  "bok bola bom bra bun by cad chi co com come con da dan das de del den der des di dice die dig din dir " +
  "donna dont door dos dove e ed el ell ells en encore era ere es est et eta euro euros fare favor fer fils " +
  "gauche god grand gut ha han hay ho hoe il imam ini jag jam jan jest jog kay kim kind kinder klein la " +
  "labs land lang las le lei leo lira llama llamas lo los ma mae mah mans mas meg men mere mes met mi min " +
  "mit mon mu muss mutter na nat nay ne need ng non nor nos nous nouvelle nova novas nu nun o ob op os otto " +
  "ova pa padre pam pan par pas per persona petite piccolo pie plus po pot pour pre premier pro res s sam " +
  "sans se sense sept sera si sig sim sin sine sol son sot soy su tag tak te teen tempo temps ten ti till " +
  "tot toto tots tout travail tu twee u um un v vader vain van var ve vera vet vi visas volt von want war y " +
  "ya yo z zen";

/**
 * Words of `english` that are frequent in another language, too, and are no evidence against it.
 */
export const inBoth: Readonly<Record<string, string>> = {
  de: "in an am so was war hat also will",
  fr: "a on",
  es: "a no he me has",
  it: "a in no ho",
  pt: "a as do me no",
  nl: "is in was we of over had",
  af: "is in was of",
  sv: "i for under over",
  da: "i for under over",
  nb: "i for under over",
  fi: "on he me",
  hu: "a is",
  pl: "i to a on do",
  cs: "a i to on do",
  sk: "a i to on do",
  sl: "in a on do to",
  hr: "i a on do to",
  ro: "a am are",
  tr: "her",
  id: "dan",
  ca: "a no me",
  is: "a",
};
