/**
 * Frequent words of languages, by which the language of a text is recognised. A word may be one of
 * several languages.
 */
export const words: Readonly<Record<string, string>> = {
  ru:
    "и в не что это как на я он она мы вы они с из по за от у же бы так но если когда где кто был была было " +
    "есть очень сегодня или каждый право все человек мир",
  uk:
    "і й та не що це як на я він вона ми ви вони з із за від у ж але якщо коли де хто був була було є дуже " +
    "сьогодні для про або кожна кожен право всі людина світ",
  bg:
    "и в не че това как на аз той тя ние вие те с от за по се са е да ще си но ако кога къде кой беше има " +
    "много днес съм или всеки право всички човек свят добър ден",
  be:
    "і ў не што гэта як на я ён яна мы вы яны з са за ад у ж але калі дзе хто быў была было ёсць вельмі сёння " +
    "для пра або кожны права усе чалавек свет",
  sr:
    "и у не што шта то како на ја он она ми ви они са из за од је су се да ће али ако када где ко био била " +
    "има веома данас сам или свако право сви човек свет",
  mk:
    "и во не што тоа како на јас тој таа ние вие тие со од за по се е да ќе но ако кога каде кој беше има " +
    "многу денес сум или секој право сите човек го ги ја свет",
  hi: "है हैं था थी थे और का की के को में से पर यह वह मैं हम आप नहीं क्या कैसे कहाँ बहुत आज",
  mr:
    "आहे आहेत होता होती आणि चा ची चे ला मध्ये हा ही हे तो ती मी आम्ही तुम्ही नाही काय कसे कुठे खूप आज व सर्व " +
    "प्रत्येक किंवा असे अशा त्याच्या त्यांच्या येथे कोणत्याही हक्क पाहिजे",
  ne: "छ छन् थियो र को का लाई मा यो त्यो म हामी तपाईं छैन होइन हो के कसरी कहाँ धेरै आज",
  kok: "आसा आसात आनी चो ची चें हांव आमी तुमी ना कितें कशें खंय आयज बरें",
  de:
    "der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war wird werden wurde " +
    "haben habe ich du er sie wir ihr es mich mir dir sich mit von zu zum zur auf aus bei nach für über durch " +
    "gegen ohne um im als auch nur noch schon sehr mehr wie wer wo wann warum wenn weil dass daß kann können " +
    "muss müssen soll sollen möchte alle jeder kein keine diese dieser dieses heute morgen jetzt hier gibt " +
    "bitte unser mein dein geht dich liebe ab bis macht mal etwas viel viele gut neue neuen zwischen während " +
    "sehe weiß gerade doch wieder dann denn beim vom nichts frau herr uhr tag jahr jahre leben kommt wollen " +
    "haus zwei drei vier fünf sechs sieben acht neun zehn hundert tausend männer frauen kinder menschen " +
    "kostet euro kommen gehen steht stehen liegt sagt sagen sagte mache machen weiter lange kurz klein kleine " +
    "große großen groß schöne schön neues alte alten könnte würde würden sollte sollten hätte wären zeit " +
    "stadt land wasser brot freund freunde mutter vater kind bruder schwester schule arbeit straße zug " +
    "achtung danach dabei davon damit darum deshalb trotzdem zusammen leider natürlich vielleicht eigentlich " +
    "wirklich genau gerne ziemlich endlich rechts gestern abend nacht mittag woche monat montag dienstag " +
    "mittwoch donnerstag freitag samstag sonntag",
  fr:
    "le la les un une des du de et ou mais pas ne est sont était être avoir ai avez je tu il elle nous vous " +
    "ils elles ce cette ces mon ma mes son sa ses leur leurs qui que quoi dont où dans sur sous avec sans " +
    "pour par en au aux plus très bien aussi tout tous toute comme quand si fait faire peut peux c'est j'ai " +
    "aujourd'hui demain maintenant ici voilà t'aime suis es sommes êtes veux voudrais jour jours temps " +
    "personne toujours rien encore même après avant depuis entre chez aucun chaque droit monde bon bonne deux " +
    "trois quatre cinq sept huit neuf dix mille l' d' c' j' qu' n' s' m' t' homme femme enfant gouvernement " +
    "annonce nouvelles nouvelle nouveau nouveaux euros coûte chien maison ville eau ami amis mère père frère " +
    "sœur fille école travail s'appelle veuillez merci voici aime aimer aller vais va vont allez allons venir " +
    "vient prendre dit disent savoir sais sait voir voit vouloir veut pouvoir peuvent devoir doit doivent " +
    "faut mettre parler parle français petit petite grand grande beau belle vieux jeune première premier " +
    "dernier dernière alors donc ainsi parce vers près trop peu assez jamais souvent parfois soir matin nuit " +
    "semaine mois année lundi mardi mercredi jeudi vendredi samedi dimanche gauche droite hier",
  es:
    "el la los las un una unos unas de del y o pero es son está están era ser estar ha han hay yo tú él ella " +
    "nosotros ellos usted te se nos lo le les mi tu su sus este esta estos ese eso que qué quien cuando cómo " +
    "como dónde donde por para con sin en sobre entre más muy también todo todos toda ya si sí hoy mañana " +
    "ahora aquí tiene puede hace al porque quiero amo soy eres somos tengo favor día días tiempo nada siempre " +
    "después antes desde hasta cada mundo bien bueno buena casa gente persona derecho nuestra nuestro dos " +
    "tres cuatro cinco seis siete ocho nueve diez cien gobierno anuncia nuevas nueva nuevo nuevos medidas " +
    "cuesta euros perro gato ciudad país agua pan amigo amiga amigos madre padre hermano hermana hijo hija " +
    "escuela trabajo calle tren llama llamo llamas gusta gustan voy vas va vamos van ir venir viene vienen " +
    "decir dice dijo saber sé sabe ver veo ve querer quiere queremos poder puedo pueden deber debe deben " +
    "hacer hago hablar habla español pequeño pequeña grande viejo joven primero primera último entonces así " +
    "durante hacia cerca lejos demasiado poco bastante nunca veces noche tarde semana mes año años lunes " +
    "martes miércoles jueves viernes sábado domingo izquierda derecha ayer estás salud nadie alguien algo " +
    "otro otra otros vida",
  it:
    "il lo la gli le un uno una di del della dei delle degli dal dalla nel nella sul e ed o ma non è sono era " +
    "essere ho ha hanno io tu lui lei noi voi loro mi ti si ci vi questo questa questi quello che chi cosa " +
    "dove quando come perché per con senza su tra fra più molto anche tutto tutti tutta già oggi domani " +
    "adesso ora qui può fare al alla sta voglio amo sei siamo tempo giorno giorni niente sempre dopo prima " +
    "fino ogni mondo bene buono buona casa persona diritto individuo nostro nostra favore tre quattro cinque " +
    "sette otto nove dieci cento l' d' c' un' dell' all' nell' quest' uomo donna governo annuncia nuove nuova " +
    "nuovo nuovi misure costa gatto città paese acqua amico amica amici madre padre fratello sorella figlio " +
    "figlia scuola lavoro strada treno chiama chiamo chiami piace piacciono vado vai andiamo andare venire " +
    "viene vengono dice detto sapere sa vedere vedo vede volere vuole vogliamo potere posso possono dovere " +
    "deve devono parlare parla italiano piccolo piccola grande vecchio giovane primo ultimo allora così " +
    "durante verso vicino lontano troppo poco abbastanza mai volte notte sera mattina settimana mese anno " +
    "anni lunedì martedì mercoledì giovedì venerdì sabato domenica sinistra destra ieri stai nessuno qualcuno " +
    "qualcosa altro altra altri vita",
  pt:
    "o os um uma de da dos das na nos nas e ou mas não é são era ser estar está tem têm foi eu tu ele ela nós " +
    "eles você vocês te se lhe meu minha seu sua este esta isso que quem quando como onde porque por para com " +
    "sem sobre entre mais muito também tudo todos toda já sim hoje amanhã agora aqui pode fazer ao à pelo " +
    "pela quero amo sou somos tenho favor dia dias tempo nada sempre depois antes desde até cada mundo bem " +
    "casa gente pessoa direito nosso nossa bom dois duas três quatro cinco seis sete oito nove dez governo " +
    "anuncia novas nova novo novos medidas custa euros cão gato cidade país água pão amigo amiga amigos mãe " +
    "pai irmão irmã filho filha escola trabalho rua trem comboio chama chamo gosto gosta vou vai vamos vão ir " +
    "vir vem dizer diz disse saber sei sabe ver vejo vê querer quer queremos poder posso podem dever deve " +
    "devem faço falar fala português pequeno pequena grande velho jovem primeiro primeira último então assim " +
    "durante perto longe demais pouco bastante nunca vezes noite tarde semana mês ano anos segunda terça " +
    "quarta quinta sexta sábado domingo esquerda direita ontem ninguém alguém algo outro outra outros vida " +
    "seres livres nascem todas",
  nl:
    "de het een en maar niet zijn waren wordt worden heeft hebben heb ik jij je u hij zij ze wij jullie hun " +
    "mijn jouw uw onze ons dit dat deze die wie wat waar wanneer hoe waarom als omdat voor van met zonder " +
    "naar uit bij op aan om door tegen te er ook nog al zeer meer veel geen alle kan kunnen moet moeten " +
    "vandaag morgen nu hier jou houd goed goede dag jaar tijd altijd niets na iedereen recht wereld huis " +
    "graag misschien alleen zoals dan toch twee drie vier vijf zes zeven acht negen tien kost kosten gaat " +
    "gaan komt komen staat zegt zeggen zei maken maakt nieuwe nieuw kleine klein grote groot mooie mooi oude " +
    "hond kat stad land vriend vrienden moeder vader kind broer zus werk straat trein zou zouden zal zullen " +
    "wil willen mag mogen weet weten zien ziet spreek spreekt nederlands eerste laatste dus tijdens naast " +
    "dichtbij ver weinig genoeg nooit vaak soms avond nacht ochtend maand jaren maandag dinsdag woensdag " +
    "donderdag vrijdag zaterdag zondag rechts gisteren niemand iemand iets andere leven",
  sv:
    "och eller men inte är var vara har hade jag du han hon vi ni de dem det den ett en som vad vem när hur " +
    "varför på av till från med utan för om att ska skall kan måste vill också mycket mer alla ingen detta " +
    "denna dessa min din sin vår idag imorgon nu här finns blir dig mig älskar bra god tid alltid efter före " +
    "hela varje rätt världen hus gärna kanske bara sig sina skulle regeringen meddelar nya nytt ny kostar går " +
    "kommer står säger säga sade göra gör små stor stora liten gamla hund katt stad land vatten bröd vän " +
    "vänner mor barn bror syster skola arbete gata tåg veta vet se ser talar svenska första sista då därför " +
    "medan nära långt nog aldrig ofta ibland kväll natt morgon vecka månad år måndag tisdag onsdag torsdag " +
    "fredag lördag söndag vänster höger igår någon något andra livet heter",
  da:
    "og eller men ikke er var være har havde jeg du han hun vi de dem det den et en som hvad hvem når hvordan " +
    "hvorfor på af til fra med uden om skal kan må vil også meget mere alle ingen dette denne disse min din " +
    "sin vores dag nu findes bliver dig mig elsker godt god tid altid efter før hele hver ret verden hus " +
    "gerne måske kun enhver sig sine ville ud går kommer står siger gør stor gammel toget morgen tidligt hund " +
    "by vand brød ven skole hedder første mandag tirsdag onsdag torsdag fredag lørdag søndag aften nat uge " +
    "måned år",
  nb:
    "og eller men ikke er var være har hadde jeg du han hun vi de dem det den et en ei som hva hvem når " +
    "hvordan hvorfor på av til fra med uten om å skal kan må vil også veldig mer alle ingen dette denne disse " +
    "min din sin vår dag nå finnes blir deg meg elsker bra god tid alltid etter før hele hver rett verden hus " +
    "gjerne kanskje bare enhver seg sine ville går kommer står sier gjør stor gammel toget morgen tidlig hund " +
    "by vann brød venn jobb skole heter første mandag tirsdag onsdag torsdag fredag lørdag søndag kveld natt " +
    "uke måned år",
  fi:
    "ja tai mutta ei en et ovat oli olivat olla minä sinä hän te se ne tämä tuo joka mikä mitä kuka missä " +
    "milloin miten miksi kun jos että koska myös vain vielä jo hyvin paljon kaikki mukaan kanssa ilman kuin " +
    "niin nyt tänään huomenna täällä voi pitää ole olen minun sinun hänen sinua rakastan hyvä hyvää aika aina " +
    "jälkeen ennen jokaisella jokainen oikeus maailma talo ehkä voin haluan",
  pl:
    "oraz lub ale nie jest są był była było być mam ma mamy ja ty ona wy oni się mnie mi cię ci jej ich mój " +
    "moja twój ten ta te tego tej który która które co kto gdzie kiedy jak dlaczego bo że w na z ze od po za " +
    "przez dla bez o przy też także bardzo więcej wszystko wszyscy już jeszcze dziś jutro teraz tutaj może " +
    "można czy każdy kocham dobra czas zawsze nic przed każda człowiek prawo świat dom tylko chcę tak jeśli " +
    "swoje rząd ogłasza nowe nowy nowa kosztuje kot miasto kraj woda chleb przyjaciel matka ojciec siostra " +
    "syn córka szkoła praca ulica pociąg idzie idę iść przyjść mówi mówić powiedział wiedzieć wiem wie " +
    "widzieć widzę mogę mogą musi muszę trzeba robić robi mały mała duży duża stary młody pierwszy ostatni " +
    "wtedy więc podczas blisko daleko mało dość nigdy często czasem wieczór noc rano tydzień miesiąc rok lata " +
    "poniedziałek wtorek środa czwartek piątek sobota niedziela lewo wczoraj nikt ktoś coś inny inna życie " +
    "nazywam",
  cs:
    "nebo ale ne je jsou byl byla bylo být mám má máme já ty ona vy oni se si mě mi ti ho jí jejich můj moje " +
    "tvůj ten ta tento tato toto který která které co kdo kde kdy jak proč protože že v ve na z ze od po za " +
    "přes pro bez o při také velmi více všechno všichni už ještě dnes zítra teď tady může každý aby jsem " +
    "miluji čas vždy nic před každá člověk právo svět dům jen chci ano jsme jsi jste",
  sk:
    "alebo ale nie je sú bol bola bolo byť mám má máme ja ty ona vy oni sa si ma mi ti ho jej ich môj moje " +
    "tvoj ten tá tí tento táto toto ktorý ktorá ktoré čo kto kde kedy ako prečo pretože že v vo na z zo od po " +
    "za cez pre bez o pri tiež veľmi viac všetko všetci už ešte dnes zajtra teraz tu môže každý aby som " +
    "milujem čas vždy nič pred každá človek právo svet dom len chcem áno sme ste každého všetkých podľa",
  sl:
    "ali pa ne je sem bil bila bilo biti imam ima jaz ti ona mi vi oni se si ga jo njegov moj tvoj ta te ki " +
    "kateri kaj kdo kje kdaj kako zakaj ker da v na z s od po za skozi brez o pri tudi zelo več vse vsi že še " +
    "danes jutri zdaj tukaj lahko vsak kot ni rad dober čas vedno nič pred pravico svet hiša samo želim " +
    "prosim smo ste",
  hr:
    "ili ali ne je su sam bio bila bilo biti imam ima ja ti ona mi vi oni se si ga joj njegov moj tvoj taj ta " +
    "ovaj ova ovo koji koja koje što tko ko gdje gde kada kako zašto jer da u na iz s sa od po za kroz bez o " +
    "pri također takođe vrlo veoma više sve svi već još danas sutra sada ovdje ovde može svatko svako kao " +
    "nije volim vrijeme vreme uvijek uvek ništa prije pravo svijet svet kuća samo želim molim jeste smo ste",
  ro:
    "și şi sau dar nu este sunt era fi ai au eu tu el ea noi voi ei ele mă te se îl o îi meu mea său acest " +
    "această acesta ce cine unde când cum de că la în din pe cu fără pentru prin despre foarte mai mult tot " +
    "toți toate azi astăzi mâine acum aici poate un unei unui al ale lui iubesc bun timp mereu nimic înainte " +
    "orice persoană dreptul lumea casa doar vreau rog da",
  hu:
    "és vagy de nem van vannak volt lesz lenni én te ő mi ti ők engem téged az egy ez ezek azok aki ami amely " +
    "mit ki hol mikor hogyan hogy miért mert ha csak még már nagyon több minden mindenki ma holnap itt lehet " +
    "kell szerint között által után meg azt szeretlek idő mindig semmi előtt jog világ ház kérem igen vagyok",
  tr:
    "ve veya ama fakat değil bir bu şu o ben sen biz siz onlar ne kim nerede nasıl neden niçin için ile gibi " +
    "kadar daha çok en hiç var yok olarak olan oldu olur ise de da ki mi mı mu mü çünkü sonra önce bugün " +
    "yarın şimdi burada herkes beni seni seviyorum iyi zaman hiçbir kişi hakkı dünya ev sadece istiyorum " +
    "lütfen evet hayır herkesin hükümet yeni kaç lira köpek kedi şehir ülke su ekmek arkadaş anne baba kardeş " +
    "okul iş sokak tren gidiyor geliyor gelmek gitmek söyledi biliyorum görmek istiyor yapmak küçük büyük " +
    "eski genç son şöyle yakın uzak az bazen akşam gece sabah hafta ay yıl pazartesi salı çarşamba perşembe " +
    "cuma cumartesi pazar sol sağ dün kimse biri başka hayat adım nasılsın",
  id:
    "dan atau tetapi tapi tidak bukan adalah ada ini itu yang dengan untuk dari ke di pada oleh dalam karena " +
    "saya aku kamu anda dia kami kita mereka apa siapa dimana kapan bagaimana mengapa juga sudah belum akan " +
    "bisa dapat harus sangat lebih semua setiap orang hari sekarang besok sini kepada telah sebagai cinta " +
    "baik waktu selalu sebelum hak dunia rumah hanya mau tolong ya",
  vi:
    "và hoặc nhưng không là của có các những một này đó cho với trong trên từ đến được bị tôi bạn anh chị nó " +
    "chúng họ ai gì đâu khi nào sao vì để rất cũng đã đang sẽ người mọi hôm nay ngày bây giờ ở về như thì mà " +
    "rồi lắm quá",
  et:
    "ja või aga ei oli olid olla mina sina tema ta meie teie nemad need kes mis kus millal kuidas miks kui et " +
    "sest ka ainult veel juba väga palju kõik oma ning igal täna homme nüüd siin saab peab mitte ma sa te " +
    "poolt igaühel õigus hea aeg alati enne maailm maja tahan palun",
  lt:
    "ir arba bet ne yra buvo būti aš tu jis ji mes jūs jie tai šis ši kuris kuri kas kur kada kaip kodėl kad " +
    "nes jei su į iš ant po prie už dėl per labai daugiau visi visas kiekvienas jau dar tik šiandien rytoj " +
    "dabar čia gali turi mano tavo savo teisę geras laikas visada pasaulis namas prašau noriu",
  lv:
    "un vai bet nav ir bija būt es tu viņš viņa mēs jūs viņi tas tā šis šī kurš kura kas kur kad kā kāpēc ka " +
    "jo ja ar bez uz pie par pēc ļoti vairāk visi viss katram katrs jau vēl tikai šodien rīt tagad šeit var " +
    "mans savu tiesības labs laiks vienmēr pasaule māja lūdzu gribu",
  ca:
    "el la els les un una uns unes de del dels o però és són era ser estar ha han jo tu ell ella nosaltres " +
    "ells vostè et es ens ho li meu meva seu seva aquest aquesta això que què qui quan com perquè per amb " +
    "sense en sobre entre més molt també tot tots tota ja si sí avui demà ara aquí té pot fer al als vull " +
    "estimo bon temps sempre res abans cada món casa persona dret nostre l' d'",
  is:
    "og eða en ekki er eru var vera hefur ég þú hann hún við þið þeir það þetta sem hvað hver hvar hvenær " +
    "hvernig af til frá með án fyrir um að í á skal getur verður einnig mjög meira allir ekkert þessi minn " +
    "þinn sinn okkar dag núna hér",
  eu:
    "eta edo baina ez da dira zen izan dut du ditu ni zu hura gu haiek hau hori zer nor non noiz nola " +
    "zergatik bat guztiak guzti oso gehiago ere egun bihar orain hemen bere dago edozein eskubidea gizon nahi " +
    "egin",
  sq:
    "dhe ose por nuk është janë ishte jam unë ti ai ajo ne ju ata një e të se në nga pa për mbi si kur ku " +
    "çfarë kush pse shumë më gjithë çdo sot nesër tani këtu mund duhet ka kam",
  af:
    "die en maar nie het ek jy hy sy ons julle hulle 'n van met sonder na uit op aan om deur oor teen te dit " +
    "dat hierdie daardie wie wat waar wanneer hoe hoekom want ook nog baie meer alle kan moet vandag môre nou " +
    "hier elkeen",
  az:
    "və ya amma deyil bir bu o mən sən biz siz onlar nə kim harada necə üçün ilə kimi qədər daha çox ən hər " +
    "var yox olan olaraq sonra əvvəl bugün sabah indi burada",
  sw:
    "na au lakini si ni ya wa za kwa katika hii huo huyo mimi wewe yeye sisi nyinyi wao nini nani wapi lini " +
    "jinsi kila mtu watu sana pia leo kesho sasa hapa habari asante",
  eo:
    "kaj aŭ ne estas estis esti mi vi li ŝi ĝi ni ili la de en al por kun sen pri ke kiu kio kie kiam kiel " +
    "kial ĉar ankaŭ tre pli ĉiuj hodiaŭ morgaŭ nun",
  cy:
    "neu ond nid yw mae oedd bod fi ti ef ni chi nhw y yr yn o ar gan heb dros beth pwy ble pryd sut pam " +
    "hefyd iawn mwy pob heddiw yfory nawr yma",
  ga:
    "agus nó ach ní tá bhí mé tú sé sí muid sibh siad na seo sin cad cé cá conas cén ar ag le gan de ó faoi " +
    "freisin an-mhaith níos gach inniu amárach anois anseo",
  fil:
    "ang mga ng sa na ay o pero hindi si ni kay ako ikaw siya kami tayo kayo sila ko mo niya ito iyan iyon " +
    "ano sino saan kailan paano bakit dahil kung para lang din rin po opo lahat bawat ngayon bukas dito " +
    "mayroon wala",
};

/** Words that suffice as evidence alone: no English text begins with them. */
export const greetings: Readonly<Record<string, string>> = {
  ru: "привет здравствуйте спасибо",
  uk: "привіт дякую вітаю",
  bg: "здравей здравейте благодаря",
  be: "прывітанне дзякуй",
  sr: "здраво хвала",
  mk: "здраво благодарам",
  de: "achtung guten hallo danke tschüss willkommen entschuldigung wiedersehen servus dankeschön",
  fr: "veuillez bonjour bonsoir merci salut bienvenue beaucoup enchanté",
  es: "hola gracias buenos buenas adiós bienvenido bienvenidos señor señora",
  it: "ciao buongiorno buonasera grazie arrivederci benvenuto benvenuti prego",
  pt: "olá obrigado obrigada tchau boa bem-vindo",
  nl: "hallo goedemorgen goedemiddag goedenavond dank bedankt welkom alsjeblieft",
  sv: "hej tack välkommen godmorgon",
  da: "hej tak velkommen godmorgen",
  nb: "hei takk velkommen",
  fi: "hei kiitos tervetuloa huomenta päivää",
  pl: "cześć dziękuję witaj witamy dzień dobry proszę",
  cs: "ahoj děkuji vítejte dobrý prosím",
  sk: "ahoj ďakujem vitajte dobrý prosím",
  hu: "szia köszönöm üdvözöljük jó napot",
  tr: "merhaba teşekkürler günaydın hoş",
  id: "selamat terima kasih",
  vi: "xin chào cảm ơn",
  ro: "bună mulțumesc salut",
  hr: "hvala dobrodošli dobar zdravo",
};
