import { itSpeaksTheSame, type Pair } from "../support/same-sound.ts";

/** Line breaks are the same for all tools and languages. */
const wrapped: readonly Pair[] = [
  ["This line\nis wrapped.", "This line is wrapped."],
  ["This line\r\n  is wrapped.", "This line is wrapped."],
  ["One line\u2028and its rest.", "One line and its rest."],
  ["A title\n\n\n \nThe text.", "A title\n\nThe text."],
  ["A title\u2029The text.", "A title\n\nThe text."],
  ["It ended.\nIt began.", "It ended. It began."],
  ["- milk\n- bread", "- milk\n\n- bread"],
  ["* milk\n* bread", "milk\n\nbread"],
];

describe("Sentences and lines as they are heard", () => {
  const initials: readonly Pair[] = [
    ["We met George W. Bush.", "We met George W Bush."],
    ["We met J. R. Smith.", "We met J R Smith."],
  ];
  itSpeaksTheSame("en-US", [...wrapped, ...initials]);
  itSpeaksTheSame("en-US", [...wrapped, ...initials, ["John F. Kennedy", "John F Kennedy"]], "flite");
  itSpeaksTheSame("en-US", [
    [
      "<speak>This line\nis <emphasis>wrapped</emphasis>.\n</speak>",
      "<speak>This line is <emphasis>wrapped</emphasis>.</speak>",
    ],
  ]);
  itSpeaksTheSame("de-DE", [
    ...wrapped,
    ["Am 3. Mai kam er.", "Am dritten Mai kam er."],
    ["Der 21. Tag war gut.", "Der einundzwanzigste Tag war gut."],
    ["Das war am 3. 10. 1990.", "Das war am dritten zehnten 1990."],
    ["Es waren z. B. Herren da.", "Es waren zum Beispiel Herren da."],
    ["Das Haus Nr. 5 und\nDr. Huber.", "Das Haus Nummer 5 und Doktor Huber."],
    ["Es kostet 5 Mio. Euro usw.", "Es kostet 5 Millionen Euro und so weiter."],
    ["Friedrich W. Huber kam.", "Friedrich W Huber kam."],
  ]);
  itSpeaksTheSame("fr-FR", [
    ["Voici M. Dupont.", "Voici monsieur Dupont."],
    ["Prenez p. ex. Paris.", "Prenez par exemple Paris."],
  ]);
  itSpeaksTheSame("es-ES", [
    ["Es el Sr. Pérez.", "Es el señor Pérez."],
    ["Los EE. UU. Mexicanos.", "Los Estados Unidos Mexicanos."],
  ]);
  itSpeaksTheSame("it-IT", [["Ecco il sig. Rossi.", "Ecco il signor Rossi."]]);
  itSpeaksTheSame("pt-PT", [["É a Sra. Costa.", "É a senhora Costa."]]);
  itSpeaksTheSame("nl-NL", [["Het is bijv. Amsterdam.", "Het is bijvoorbeeld Amsterdam."]]);
  itSpeaksTheSame("sv-SE", [["Ta t.ex. Stockholm.", "Ta till exempel Stockholm."]]);
  itSpeaksTheSame("da-DK", [["Den 3. Maj kom han.", "Den 3. maj kom han."]]);
  itSpeaksTheSame("nb-NO", [["Den 17. Mai er fin.", "Den 17. mai er fin."]]);
  itSpeaksTheSame("fi-FI", [["Se on 3. Toukokuuta.", "Se on 3 Toukokuuta."]]);
  itSpeaksTheSame("cs-CZ", [["Je to např. Praha.", "Je to například Praha."]]);
  itSpeaksTheSame("pl-PL", [["To np. Warszawa.", "To na przykład Warszawa."]]);
  itSpeaksTheSame("hu-HU", [["A 3. Nap jó volt.", "A 3. nap jó volt."]]);
  itSpeaksTheSame("ru-RU", [["Яблоки и т. д. Да.", "Яблоки и так далее. Да."]]);
  itSpeaksTheSame("tr-TR", [["Bu Prof. Demir.", "Bu Profesör Demir."]]);
});
