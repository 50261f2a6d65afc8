/**
 * Words with a full stop that does not end a sentence, by language, without the stop and in lower
 * case. Blanks within them are left out: `z.b` is `z. B.`. CLDR's suppressions are not used: they
 * list `in`, `on` and `up` as abbreviations.
 */
interface Abbreviations {
  /** These words never end a sentence: titles, and words that are always followed by others. */
  readonly never: string;
  /** A full stop after these words does not end a sentence if a number follows. */
  readonly beforeNumber?: string;
  /**
   * A full stop after these words does not end a sentence before a name or noun; the same holds for
   * the full stops of initials and acronyms.
   */
  readonly beforeName?: string;
  /** Acronyms that are the end of a sentence if a capital letter follows. */
  readonly beforeCapital?: string;
  /**
   * Words that begin sentences. Any other capitalised word after `U.S.` or an initial is a name.
   */
  readonly starters: string;
}

const byLanguage: Readonly<Record<string, Abbreviations>> = {
  en: {
    never:
      "mr mrs ms mx dr prof rev hon gen col lt sgt cpl capt cmdr adm maj pres gov sen rep supt insp messrs mmes fr " +
      "e.g i.e eg cf viz vs approx ca mt ft",
    beforeNumber:
      "no nos p pp vol vols fig figs ch chap sec sect art eq ex par para ver ed nr op tel ext apt rm " +
      "jan feb mar apr jun jul aug sep sept oct nov dec",
    beforeName: "co inc corp bros esq al dept univ assn ave blvd",
    beforeCapital: "a.m p.m b.c a.d",
    starters:
      "the a an this that these those he she it we you they i there here his her its our your their my what when where " +
      "who why how which if but and or so then now after before while because although though however as at in on by for " +
      "from to with no not yes some all many most both each every one another everyone nobody nothing later today " +
      "yesterday tomorrow please let",
  },
  de: {
    never:
      "hr fr dr prof st mag ing dipl dipl-ing mrd mio tsd ca bzw z.b zb d.h i.e vgl sog bspw evtl ggf inkl exkl zzgl abzgl " +
      "geb gest verh allg bes insb ehem z.t z.zt u.a v.a u.u o.ä o.g i.d.r m.e s.o s.u nr bd abs art kap abb tab str gebr " +
      "jhdt max min tel abt hl frl fa phil med jur rer nat habil pol oec hptm lt gen",
    beforeNumber: "s anm aufl ziff jan feb mär apr jun jul aug sep sept okt nov dez",
    beforeCapital: "u.s.w ff jh",
    starters:
      "der die das den dem des ein eine einen einem einer er sie es wir ihr ich du man und aber oder doch denn dann da dort " +
      "hier heute gestern morgen danach dabei dazu deshalb daher so wie was wer wo wann warum wenn als ob nach vor in im am " +
      "an auf aus bei mit von vom zu zum zur für über unter ohne auch nur nicht kein keine sein seine ihre mein meine unser " +
      "dieser diese dieses jeder alle viele bitte ja nein",
  },
  fr: {
    never:
      "m mm mme mmes mlle mlles dr pr me mgr st ste bd av p.ex cf ex env art fig vol chap éd n° no tél c.-à-d c-à-d jr vs max min",
    beforeNumber: "p pp janv févr avr juil sept oct nov déc",
    beforeCapital: "av.j.-c j.-c",
    starters:
      "le la les l un une des il elle on nous vous ils elles je tu ce cet cette ces cela ça c mais et ou donc or ni car " +
      "puis ensuite alors après avant dans en à au aux de du par pour sur sous avec sans qui que quand où comment pourquoi si " +
      "son sa ses leur notre votre mon ma mes tout tous chaque oui non ne",
  },
  es: {
    never:
      "sr sra srta sres sras dr dra dres d dña ee prof profa lic ing arq gral tte cap p.ej ej ee.uu ss.aa cf vs aprox art fig cap núm " +
      "avda av c tel tfno admón dpto pág págs vol ed mons excmo excma ilmo ud uds vd vds sto sta fco",
    beforeNumber: "n.º nº no p pp ene feb mar abr jun jul ago sept oct nov dic",
    beforeCapital: "a.m p.m a.c d.c",
    starters:
      "el la los las un una unos unas él ella ellos ellas yo tú nosotros usted ustedes se lo le este esta esto ese esa eso " +
      "pero y o u ni que cuando donde como porque si en de del a al con sin por para según desde hasta entre sobre tras su " +
      "sus mi mis tu no sí hoy ayer mañana después luego entonces también todo todos cada nadie nada",
  },
  it: {
    never:
      "sig sigg sig.ra sig.na dott dott.ssa prof prof.ssa avv ing arch geom rag on mons sen p.es es ecc.mo cfr art fig vol pag " +
      "pagg tel n nn c.so v.le p.za gen col cap ten s ss",
    beforeNumber: "p pp gen feb mar apr giu lug ago set sett ott nov dic",
    beforeCapital: "a.c d.c",
    starters:
      "il lo la i gli le l un uno una egli ella lui lei noi voi loro io tu questo questa questi quello quella ma e ed o che " +
      "chi quando dove come perché se in nel nella di del della a al alla da dal con su per tra fra non sì no oggi ieri " +
      "domani poi dopo allora anche tutto tutti ogni suo sua mio mia c è",
  },
  pt: {
    never:
      "sr sra srs sras srta dr dra drs prof profa eng arq exmo exma ilmo d dom pe p.ex ex v.g cf vs art fig vol pág págs tel av r " +
      "gen cap ten sto sta s núm dep",
    beforeNumber: "n nº no p pp jan fev mar abr mai jun jul ago set out nov dez",
    beforeCapital: "a.c d.c",
    starters:
      "o a os as um uma ele ela eles elas eu tu nós você vocês este esta isto esse essa isso mas e ou que quando onde como " +
      "porque se em no na de do da ao à com sem por para até desde entre sobre seu sua meu minha não sim hoje ontem amanhã " +
      "depois então também tudo todos cada",
  },
  nl: {
    never:
      "dhr mevr mw dr prof ir ing mr drs ds st bijv b.v bv d.w.z dwz o.a oa t.w m.n m.b.t i.p.v t.o.v nl vgl ca resp zgn evt incl " +
      "excl max min art afb fig blz pag nr tel hfdst red jhr",
    beforeNumber: "p pp jan feb mrt apr jun jul aug sep sept okt nov dec",
    beforeCapital: "e.d",
    starters:
      "de het een hij zij ze wij we jij je u ik er dit dat deze die maar en of want dus toen dan nu hier daar als wanneer wie wat " +
      "waar waarom hoe in op aan bij met van voor naar uit over onder zonder zijn haar mijn ons niet geen ja nee ook na",
  },
  sv: {
    never:
      "hr fr dr prof st bl.a t.ex tex dvs d.v.s f.d s.k ca c:a jfr inkl exkl resp nr kap fig sid tel m.a.o p.g.a pga",
    beforeNumber: "s jan feb mars apr jun jul aug sept okt nov dec",
    beforeCapital: "m.m m.fl o.s.v",
    starters:
      "den det de en ett han hon vi ni jag du man detta denna dessa men och eller så då nu här där när som om vad vem var varför " +
      "hur i på av för med till från efter innan under inte ja nej hans hennes min",
  },
  da: {
    never:
      "hr fr dr prof sct bl.a f.eks feks dvs d.v.s ca jf inkl ekskl nr kap fig tlf kl pga p.g.a mht ift st stk",
    beforeNumber: "s jan feb mar apr jun jul aug sep sept okt nov dec",
    beforeCapital: "m.m m.fl mv m.v",
    starters:
      "den det de en et han hun vi i jeg du man dette denne disse men og eller så da nu her der når som om hvad hvem hvor hvorfor " +
      "hvordan på af for med til fra efter før under ikke ja nej hans hendes min",
  },
  nb: {
    never: "hr fr dr prof st bl.a f.eks feks dvs d.v.s ca jf inkl ekskl nr kap fig tlf kl pga p.g.a mht ift",
    beforeNumber: "s jan feb mars apr jun jul aug sep sept okt nov des",
    beforeCapital: "m.m m.fl mv m.v",
    starters:
      "den det de en ei et han hun vi jeg du man dette denne disse men og eller så da nå her der når som om hva hvem hvor hvorfor " +
      "hvordan i på av for med til fra etter før under ikke ja nei hans hennes min",
  },
  fi: {
    never: "hra rva nti tri prof st esim ts ks vrt n noin mm ym.m puh nro kpl s.o k.o ko mrd milj",
    beforeNumber: "s",
    beforeCapital: "jne yms ym jms",
    starters:
      "hän se he ne minä sinä me te tämä tuo nämä mutta ja tai sitten nyt siellä täällä kun jos koska vaikka mikä kuka missä " +
      "miksi miten ei kyllä myös sen hänen",
  },
  hu: {
    never: "dr prof ifj id özv st pl kb ún ill vö ld stb.-i br gr tel u em fszt",
    beforeNumber: "o old jan febr márc ápr jún júl aug szept okt nov dec",
    beforeCapital: "stb kft bt zrt nyrt",
    starters:
      "a az egy ő ez ezek azok mi ti én te de és vagy hogy ha akkor most itt ott mert mikor hol ki miért hogyan nem igen",
  },
  cs: {
    never:
      "p pí dr mudr judr phdr rndr ing mgr bc prof doc mvdr paeddr sv např tj tzn resp popř cca č čp čl str tzv mj roč srov ul nám " +
      "tel obr tab gen plk kpt npor",
    beforeCapital: "atd apod aj",
    starters:
      "to ten ta ti ty on ona ono oni my vy já ale a nebo pak potom teď tam tady když jestli protože co kdo kde proč jak v ve na " +
      "s se z ze k ke do od po pro před při ne ano jeho její můj každý všichni",
  },
  sk: {
    never:
      "p pí dr mudr judr phdr rndr ing mgr bc prof doc mvdr sv napr tj tzn resp popr cca č čl str tzv ul nám tel obr tab gen plk",
    beforeCapital: "atď apod pod",
    starters:
      "to ten tá tí on ona ono oni my vy ja ale a alebo potom teraz tam tu keď ak pretože čo kto kde prečo ako v vo na s so z zo k " +
      "do od po pre pred pri nie áno jeho jej môj každý všetci",
  },
  pl: {
    never:
      "p pp dr prof inż mgr hab doc lek ks św bł gen płk kpt por sierż red np tj tzn tzw ok godz ul al pl nr str art ust tel wg " +
      "m.in r.ż ww pt",
    beforeNumber: "s t rozdz",
    beforeCapital: "itd itp r w",
    starters:
      "to ten ta te ci on ona ono oni my wy ja ale a i lub albo potem teraz tam tu kiedy gdy jeśli ponieważ co kto gdzie dlaczego " +
      "jak w we na z ze do od po dla przed przy nie tak jego jej mój każdy wszyscy",
  },
  ru: {
    never:
      "г гг ул пр пл пер д им т.е т.к т.н т.о т.ч напр см ср стр рис табл тел проф акад доц св руб коп тыс млн млрд обл р-н",
    beforeCapital: "др пр т.д т.п",
    starters:
      "он она оно они мы вы я ты это этот эта эти тот но и а или потом затем теперь там здесь когда если потому что кто где почему " +
      "как в во на с со из к до от по для перед при не да нет его её их мой каждый все",
  },
  uk: {
    never:
      "р рр вул пл пров буд ім т.зв т.ч напр див пор стор с рис табл тел проф акад доц св грн коп тис млн млрд обл",
    beforeCapital: "ін т.д т.п",
    starters:
      "він вона воно вони ми ви я ти це цей ця ці той але і й та або потім тепер там тут коли якщо бо що хто де чому як у в на з із " +
      "до від по для перед при не так ні його її їх мій кожен усі",
  },
  tr: {
    never: "dr prof doç av sn bay hz st örn bkz yy krş alm ing tel cad sok mah no",
    beforeCapital: "vb vs vd",
    starters:
      "bu şu o bir biz siz ben sen onlar ama ve veya sonra şimdi orada burada ne kim nerede neden nasıl çünkü eğer hayır evet",
  },
};

/** Languages in which `3.` before a noun is `third`. */
const ordinals = new Set(
  "de lb gsw hsb dsb cs sk pl sl hr sr bs mk hu fi et lv lt da nb nn no fo is tr eu".split(" "),
);

/** Languages that have words without vowels, such as `prst`. */
const vowelless = new Set("cs sk sl hr sr bs mk cy pl".split(" "));

const aliases: Readonly<Record<string, string>> = {
  no: "nb",
  nn: "nb",
  gsw: "de",
  lb: "de",
  gl: "pt",
  ca: "es",
};

type Kind = Exclude<keyof Abbreviations, "starters">;

export interface SentenceRules {
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly starters: ReadonlySet<string>;
  readonly hasOrdinals: boolean;
  readonly hasVowelless: boolean;
}

const kept = new Map<string, SentenceRules>();

/** The rules of a language, by the first subtag of a BCP-47 tag. */
export const sentenceRules = (lang: string): SentenceRules => {
  const language = /^[a-z]{2,3}(?=-|$)/i.exec(lang)?.[0].toLowerCase() ?? "";
  const found = kept.get(language);
  if (found) return found;
  const known = byLanguage[aliases[language] ?? language];
  const kinds = new Map<string, Kind>();
  for (const kind of ["beforeCapital", "beforeName", "beforeNumber", "never"] as const) {
    for (const word of known?.[kind]?.split(" ") ?? []) kinds.set(word, kind);
  }
  const rules = {
    kinds,
    starters: new Set(known?.starters.split(" ")),
    hasOrdinals: ordinals.has(language),
    hasVowelless: vowelless.has(language),
  };
  if (known) kept.set(language, rules);
  return rules;
};
