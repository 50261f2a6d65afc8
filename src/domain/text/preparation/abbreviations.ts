import { rewrite } from "../mapped-text.ts";
import { fullStopAt } from "../sentences.ts";
import { germanOrdinals } from "./german-ordinals.ts";
import type { Step } from "./reader.ts";

/**
 * Writes abbreviations in full, because tools spell most of them, and pause after their full stops.
 * English has its own step.
 */
export const expandAbbreviations: Step = (text, reader) => {
  if (!text.text.includes(".")) return text;
  const [language = ""] = reader.lang.split("-", 1);
  const expanded = expand(text, languageOf(language), reader.lang);
  if (language === "de") return germanOrdinals(expanded);
  if (!readsOrdinals.has(language) || reader.tool !== "espeak") return expanded;
  return rewrite(expanded, ordinal, ({ index, input, groups: { number = "", letter = "" } = {} }) =>
    fullStopAt(input, index + number.length, reader.lang) === "none"
      ? `${number}. ${letter.toLowerCase()}`
      : undefined,
  );
};

/** In these languages espeak-ng reads `3.` as an ordinal, but only before a lower-case letter. */
const readsOrdinals: ReadonlySet<string> = new Set(["da", "hu", "lv", "nb", "no"]);
const ordinal = /(?<![\p{L}\p{Nd}.,])(?<number>\p{Nd}{1,3})\.\s(?<letter>\p{Lu})(?=\p{Ll})/gu;

interface Language {
  readonly pattern: RegExp;
  readonly words: ReadonlyMap<string, string>;
}

const expand = (text: Parameters<Step>[0], language: Language | undefined, lang: string): typeof text =>
  language === undefined
    ? text
    : rewrite(text, language.pattern, ({ 0: written, index, input }) => {
        const words = language.words.get(keyOf(written));
        if (words === undefined) return undefined;
        const isCapital = /^\p{Lu}/u.test(written) && !/^\p{Lu}\p{Lu}/u.test(written);
        const last = index + written.length - 1;
        const isEnd =
          /^\s*$/u.test(input.slice(last + 1, last + 64)) || fullStopAt(input, last, lang) === "end";
        return `${isCapital ? words.charAt(0).toUpperCase() + words.slice(1) : words}${isEnd ? "." : ""}`;
      });

const keyOf = (written: string): string => written.toLowerCase().replace(/\s/gu, "");

const kept = new Map<string, Language>();

const languageOf = (code: string): Language | undefined => {
  const entries = byLanguage[code === "no" ? "nb" : code];
  if (!entries) return undefined;
  const found = kept.get(code);
  if (found) return found;
  const all = entries.map((entry) => entry.split("=", 2) as [string, string]);
  const alternatives = all
    .map(([short]) => {
      const isBeforeNumber = short.endsWith("#");
      const letters = short
        .replace("#", "")
        .replaceAll(".", "\\.[ \\u00a0\\u202f]?")
        .replace(/\[ [^\]]*\]\?$/, "");
      return isBeforeNumber ? `${letters}(?=\\s?\\p{Nd})` : letters;
    })
    .sort((a, b) => b.length - a.length);
  const language = {
    pattern: new RegExp(`(?<![\\p{L}\\p{Nd}.])(?:${alternatives.join("|")})(?![\\p{L}\\p{Nd}.])`, "giu"),
    words: new Map(all.map(([short, words]) => [keyOf(short.replace("#", "")), words])),
  };
  kept.set(code, language);
  return language;
};

/** `#` marks an abbreviation that is read only before a number. */
const byLanguage: Readonly<Record<string, readonly string[]>> = {
  de: [
    ..."z.b.=zum Beispiel|d.h.=das heißt|u.a.=unter anderem|v.a.=vor allem|i.d.r.=in der Regel|z.t.=zum Teil".split(
      "|",
    ),
    ..."u.u.=unter Umständen|o.ä.=oder ähnliche|usw.=und so weiter|etc.=et cetera|bzw.=beziehungsweise".split(
      "|",
    ),
    ..."ca.=circa|nr.=Nummer|dr.=Doktor|prof.=Professor|hr.=Herr|fr.=Frau|st.=Sankt|mag.=Magister".split("|"),
    ..."mio.=Millionen|mrd.=Milliarden|tsd.=Tausend|abs.#=Absatz|art.#=Artikel|bd.#=Band|s.#=Seite".split(
      "|",
    ),
    ..."kap.#=Kapitel|abb.#=Abbildung|vgl.=vergleiche|ggf.=gegebenenfalls|evtl.=eventuell|inkl.=inklusive".split(
      "|",
    ),
    ..."exkl.=exklusive|bspw.=beispielsweise|zzgl.=zuzüglich|abzgl.=abzüglich|tel.=Telefon|geb.=geboren".split(
      "|",
    ),
    ..."gest.=gestorben|jh.=Jahrhundert|ing.=Ingenieur|dipl.=Diplom|max.=maximal|n.chr.=nach Christus".split(
      "|",
    ),
    ..."v.chr.=vor Christus|std.=Stunden|str.=Straße|sog.=sogenannte|insb.=insbesondere".split("|"),
  ],
  fr: [
    ..."m.=monsieur|mm.=messieurs|mme.=madame|mmes.=mesdames|mlle.=mademoiselle|dr.=docteur|pr.=professeur".split(
      "|",
    ),
    ..."p.ex.=par exemple|c.-à-d.=c'est-à-dire|etc.=et cétéra|av.j.-c.=avant Jésus-Christ".split("|"),
    ..."apr.j.-c.=après Jésus-Christ|st.=saint|ste.=sainte|p.#=page|pp.#=pages|env.=environ|art.#=article".split(
      "|",
    ),
    ..."vol.#=volume|tél.=téléphone|bd.=boulevard|av.=avenue".split("|"),
  ],
  es: [
    ..."sr.=señor|sres.=señores|sra.=señora|sras.=señoras|srta.=señorita|dr.=doctor|dra.=doctora|d.=don".split(
      "|",
    ),
    ..."dña.=doña|prof.=profesor|profa.=profesora|p.ej.=por ejemplo|ee.uu.=Estados Unidos|etc.=etcétera".split(
      "|",
    ),
    ..."núm.=número|pág.=página|págs.=páginas|ud.=usted|vd.=usted|uds.=ustedes|vds.=ustedes|avda.=avenida".split(
      "|",
    ),
    ..."a.c.=antes de Cristo|d.c.=después de Cristo|aprox.=aproximadamente|tel.=teléfono|sto.=santo|sta.=santa".split(
      "|",
    ),
  ],
  it: [
    ..."sig.=signor|sigg.=signori|sig.ra=signora|sig.na=signorina|dott.=dottor|dott.ssa=dottoressa".split(
      "|",
    ),
    ..."prof.=professor|prof.ssa=professoressa|avv.=avvocato|ing.=ingegner|ecc.=eccetera|p.es.=per esempio".split(
      "|",
    ),
    ..."pag.=pagina|art.#=articolo|tel.=telefono|a.c.=avanti Cristo|d.c.=dopo Cristo|fig.#=figura".split("|"),
  ],
  pt: [
    ..."sr.=senhor|sra.=senhora|srta.=senhorita|dr.=doutor|dra.=doutora|prof.=professor|profa.=professora".split(
      "|",
    ),
    ..."etc.=et cétera|p.ex.=por exemplo|pág.=página|av.=avenida|d.=dom|a.c.=antes de Cristo|d.c.=depois de Cristo".split(
      "|",
    ),
    ..."art.#=artigo|tel.=telefone|eng.=engenheiro".split("|"),
  ],
  nl: [
    ..."dhr.=de heer|mevr.=mevrouw|mw.=mevrouw|dr.=dokter|prof.=professor|bijv.=bijvoorbeeld|b.v.=bijvoorbeeld".split(
      "|",
    ),
    ..."enz.=enzovoort|etc.=et cetera|o.a.=onder andere|d.w.z.=dat wil zeggen|ca.=circa|nr.=nummer|blz.=bladzijde".split(
      "|",
    ),
    ..."i.p.v.=in plaats van|m.b.t.=met betrekking tot|t.o.v.=ten opzichte van|st.=sint".split("|"),
    ..."v.chr.=voor Christus|n.chr.=na Christus".split("|"),
  ],
  sv: [
    ..."t.ex.=till exempel|bl.a.=bland annat|dvs.=det vill säga|osv.=och så vidare|ca.=cirka|nr.=nummer".split(
      "|",
    ),
    ..."kl.=klockan|s.k.=så kallade|m.m.=med mera|hr.=herr|fr.=fru|dr.=doktor|prof.=professor|m.fl.=med flera".split(
      "|",
    ),
  ],
  da: [
    ..."f.eks.=for eksempel|bl.a.=blandt andet|osv.=og så videre|dvs.=det vil sige|ca.=cirka|nr.=nummer".split(
      "|",
    ),
    ..."kl.=klokken|hr.=herr|fr.=fru|dr.=doktor|prof.=professor|m.m.=med mere".split("|"),
  ],
  nb: [
    ..."f.eks.=for eksempel|bl.a.=blant annet|osv.=og så videre|dvs.=det vil si|ca.=cirka|nr.=nummer".split(
      "|",
    ),
    ..."kl.=klokken|hr.=herr|fr.=fru|dr.=doktor|prof.=professor|m.m.=med mer".split("|"),
  ],
  fi: [
    ..."esim.=esimerkiksi|jne.=ja niin edelleen|mm.=muun muassa|ts.=toisin sanoen|n.#=noin|ym.=ynnä muuta".split(
      "|",
    ),
    ..."yms.=ynnä muuta sellaista|prof.=professori|tri.=tohtori|nro.=numero".split("|"),
  ],
  pl: [
    ..."np.=na przykład|itd.=i tak dalej|itp.=i tym podobne|tzn.=to znaczy|tj.=to jest|m.in.=między innymi".split(
      "|",
    ),
    ..."ul.=ulica|godz.=godzina|nr.=numer|prof.=profesor|inż.=inżynier|ok.=około|tzw.=tak zwany".split("|"),
  ],
  cs: [
    ..."např.=například|tj.=to jest|tzn.=to znamená|atd.=a tak dále|apod.=a podobně|č.#=číslo|ul.=ulice".split(
      "|",
    ),
    ..."ing.=inženýr|dr.=doktor|prof.=profesor|resp.=respektive|tzv.=takzvaný|str.#=strana".split("|"),
  ],
  sk: [
    ..."napr.=napríklad|tj.=to jest|tzn.=to znamená|atď.=a tak ďalej|č.#=číslo|ul.=ulica".split("|"),
    ..."ing.=inžinier|dr.=doktor|prof.=profesor|resp.=respektíve|str.#=strana".split("|"),
  ],
  hu: [
    ..."pl.=például|stb.=és a többi|kb.=körülbelül|dr.=doktor|prof.=professzor|ún.=úgynevezett|ill.=illetve".split(
      "|",
    ),
  ],
  ru: [
    ..."т.е.=то есть|т.д.=так далее|т.п.=тому подобное|т.к.=так как|тыс.=тысяч|млн.=миллионов|млрд.=миллиардов".split(
      "|",
    ),
    ..."руб.=рублей|ул.=улица|им.=имени|см.=смотри|напр.=например|проф.=профессор|стр.#=страница|рис.#=рисунок".split(
      "|",
    ),
  ],
  uk: [
    ..."т.д.=так далі|т.п.=тому подібне|тис.=тисяч|млн.=мільйонів|млрд.=мільярдів|грн.=гривень|вул.=вулиця".split(
      "|",
    ),
    ..."напр.=наприклад|проф.=професор|див.=дивись".split("|"),
  ],
  tr: [
    ..."vb.=ve benzeri|vs.=vesaire|örn.=örneğin|prof.=profesör|dr.=doktor|sn.=sayın|doç.=doçent".split("|"),
  ],
};
