/**
 * Signs as people say them, in the form that words.ts describes. All other signs come from cldr.ts.
 * `^` comes before an exponent, and `–` between the numbers of a range; `,` and `.` have the word
 * for the sign of decimals, for voices that do not read the sign.
 */
export const signWords: Readonly<Record<string, string>> = {
  af: `− minus; + plus; ± plus minus; × maal; ÷ gedeel deur; = is gelyk aan; ≈ ongeveer; ≠ is nie gelyk aan; ≤ kleiner as of gelyk aan;
    ≥ groter as of gelyk aan; < kleiner as; > groter as; √ vierkantswortel van; ∞ oneindig; § paragraaf; № nommer; ² kwadraat; ³ tot die derde mag;
    ^ tot die mag; π pi; µ mikro; ½ half; ¼ kwart; ¾ driekwart; & en; , komma; † oorlede; € euro; ₹ roepees/one roepee`,
  am: "№ ቁጥር; π ፓይ; Ω ኦም",
  an: `− menos; + más; ± más menos; × por; ÷ dividiu por; = igual a; ≈ aproximadament; ≠ diferent de; ≤ menor u igual que; ≥ mayor u igual que;
    < menor que; > mayor que; √ radiz cuadrada de; ∞ infinito; § sección; № numero; ‰ por mil; ° graus/one grau; °C graus Celsius/one grau Celsius;
    °F graus Fahrenheit/one grau Fahrenheit; ² a lo cuadrau; ³ a lo cubo; π pi; µ micro; ½ meyo; € euros/one euro; $ dólars/one dólar;
    £ libras/one libra; ¥ yens/one yen; ₹ rupias/one rupia; ₽ rublos/one rublo; ₩ wons/one won; ₺ liras/one lira; ₴ grivnas/one grivna;
    ₪ séquels/one séquel; ₫ dongs/one dong; ¢ centimos/one centimo; ₿ bitcoins/one bitcoin; → enta; © copyright; ® rechistrau; ™ marca; † defunto; Ω ohm`,
  ar: `– إلى; − ناقص; + زائد; ± زائد أو ناقص; × ضرب; ÷ مقسوم على; = يساوي; ≈ يساوي تقريبا; ≠ لا يساوي; ≤ أقل من أو يساوي; ≥ أكبر من أو يساوي;
    < أقل من; > أكبر من; √ الجذر التربيعي ل; ∞ ما لا نهاية; § المادة; № رقم; ² تربيع; ³ تكعيب; ^ أس; π باي; µ ميكرو; ½ نصف; ¼ ربع;
    ¾ ثلاثة أرباع; & و; † توفي; ₹ روبية; ₺ ليرة; ₪ شيكل; % بالمئة`,
  as: "№ নম্বৰ; π পাই",
  az: `− mənfi; + üstəgəl; ± üstəgəl çıx; × vurulsun; ÷ bölünsün; = bərabərdir; ≈ təxminən; ≠ bərabər deyil; ≤ kiçik və ya bərabərdir;
    ≥ böyük və ya bərabərdir; < kiçikdir; > böyükdür; √ kvadrat kök; ∞ sonsuzluq; § paraqraf; № nömrə; ² kvadratı; ³ kubu; π pi; µ mikro; & və;
    € avro; ₹ rupi; ₺ lirə`,
  ba: "№ номер; π пи",
  be: `– да; − мінус; + плюс; ± плюс мінус; × памножыць на; ÷ падзяліць на; = роўна; ≈ прыблізна роўна; ≠ не роўна; ≤ менш або роўна; ≥ больш або роўна;
    < менш за; > больш за; √ квадратны корань з; ∞ бясконцасць; № нумар; ² у квадраце; ³ у кубе; ^ у ступені; π пі; µ мікра; ½ палова; ¼ чвэрць;
    ¾ тры чвэрці; & і; , коска; € еўра; ₽ рубля/many рублёў/one рубель/few рублі; ₹ рупіі/many рупій/one рупія; ₴ грыўні/many грыўняў/one грыўня`,
  bg: `– до; − минус; + плюс; ± плюс минус; × по; ÷ делено на; = равно на; ≈ приблизително равно на; ≠ не е равно на; ≤ по-малко или равно на;
    ≥ по-голямо или равно на; < по-малко от; > по-голямо от; √ корен квадратен от; ∞ безкрайност; § параграф; № номер; ‰ промила; ² на квадрат; ³ на куб;
    ^ на степен; π пи; µ микро; ½ половин; ¼ една четвърт; ¾ три четвърти; & и; £ паунда/one паунд; ₹ рупии/one рупия; ₺ лири/one лира;
    ₴ гривни/one гривна; ₪ шекела/one шекел; ¢ цента/one цент; † починал`,
  bn: `− মাইনাস; + প্লাস; ± প্লাস মাইনাস; × গুণ; ÷ ভাগ; = সমান; ≈ প্রায় সমান; ≠ সমান নয়; ≤ ছোট বা সমান; ≥ বড় বা সমান; < ছোট; > বড়; √ বর্গমূল; ∞ অসীম;
    § ধারা; № নম্বর; ² বর্গ; ³ ঘন; π পাই; µ মাইক্রো; ½ অর্ধেক; & এবং; ₹ রুপি; ৳ টাকা; ₺ লিরা; ‰ প্রতি হাজারে; © কপিরাইট; ® নিবন্ধিত; ™ ট্রেডমার্ক`,
  bs: `– do; − minus; + plus; ± plus minus; × puta; ÷ podijeljeno sa; = jednako; ≈ približno jednako; ≠ nije jednako; ≤ manje ili jednako; ≥ veće ili jednako;
    < manje od; > veće od; √ kvadratni korijen iz; ∞ beskonačno; § paragraf; № broj; ‰ promila; ² na kvadrat; ³ na kub; ^ na; π pi; µ mikro; ½ pola;
    ¼ četvrtina; ¾ tri četvrtine; & i; € eura/one euro/few eura; ₹ rupija/one rupija/few rupije; ₺ lira/one lira/few lire; ¢ centi/one cent/few centa`,
  ca: `– a; − menys; + més; ± més menys; × per; ÷ dividit per; = és igual a; ≈ aproximadament; ≠ diferent de; ≤ menor o igual que; ≥ major o igual que;
    < menor que; > major que; √ arrel quadrada de; ∞ infinit; § secció; № número; ‰ per mil; ² al quadrat; ³ al cub; ^ elevat a; π pi; µ micro; ½ mig;
    ¼ un quart; ¾ tres quarts; & i; ₹ rupies/one rupia; ₺ lires/one lira; ₴ hrívnies/one hrívnia; ₪ xéquels/one xéquel; ₫ dongs/one dong;
    ¢ cèntims/one cèntim; ₿ bitcoins/one bitcoin; † mort`,
  chr: "№ disesdi; π pi",
  cs: `– až; − minus; + plus; ± plus minus; × krát; ÷ děleno; = rovná se; ≈ přibližně; ≠ nerovná se; ≤ menší nebo rovno; ≥ větší nebo rovno; < menší než;
    > větší než; √ odmocnina z; ∞ nekonečno; § paragraf; № číslo; ‰ promile; ² na druhou; ³ na třetí; ^ na; π pí; µ mikro; ½ jedna polovina;
    ¼ jedna čtvrtina; ¾ tři čtvrtiny; & a; £ liber/one libra/few libry/many libry; ₹ rupií/one rupie/few rupie/many rupie;
    ₺ lir/one lira/few liry/many liry; ₴ hřiven/one hřivna/few hřivny/many hřivny; ₪ šekelů/one šekel/few šekely/many šekely;
    ¢ centů/one cent/few centy/many centu; ₿ bitcoinů/one bitcoin/few bitcoiny/many bitcoinu; † zemřel`,
  cv: "№ номер; π пи; ² тӑваткалӗ; ½ ҫурри; Ω ом",
  cy: `− minws; + plws; ± plws neu finws; × lluosi â; ÷ wedi ei rannu â; = yn hafal i; ≈ tua; ≠ ddim yn hafal i; ≤ yn llai na neu'n hafal i;
    ≥ yn fwy na neu'n hafal i; < yn llai na; > yn fwy na; √ ail isradd; ∞ anfeidredd; § adran; № rhif; ‰ y fil; ² wedi'i sgwario; ³ wedi'i giwbio; π pai;
    µ micro; ½ hanner; ¼ chwarter; ¾ tri chwarter; & a; % y cant; € ewro; $ doler; £ punt; ¥ yen; ₹ rwpi; ₽ rwbl; ¢ sent`,
  da: `– til; − minus; + plus; ± plus minus; × gange; ÷ divideret med; = er lig med; ≈ cirka; ≠ er forskellig fra; ≤ mindre end eller lig med;
    ≥ større end eller lig med; < mindre end; > større end; √ kvadratroden af; ∞ uendelig; § paragraf; № nummer; ² i anden; ³ i tredje; ^ i; π pi; µ mikro;
    ½ en halv; ¼ en kvart; ¾ trekvart; & og; ° grader/one grad; ₹ rupees/one rupee; ₺ lira; ₴ hryvnia; ₪ shekel; ₫ dong; † død`,
  de: `– bis; − minus; + plus; ± plus minus; × mal; ÷ geteilt durch; = gleich; ≈ ungefähr; ≠ ungleich; ≤ kleiner oder gleich; ≥ größer oder gleich;
    < kleiner als; > größer als; → Pfeil nach rechts; √ Wurzel aus; ∞ unendlich; § Paragraph; № Nummer; ² hoch zwei; ³ hoch drei; ^ hoch; π Pi; µ Mikro;
    ½ ein halb; ¼ ein Viertel; ¾ drei Viertel; & und; ® eingetragene Marke; ™ Markenzeichen; † gestorben; ₹ Rupien/one =eine Rupie; ₺ Lira; ₴ Hrywnja; ₪ Schekel;
    ₫ Dong; ₿ Bitcoin; £¢ Pence; € Euro/one =ein Euro; $ Dollar/one =ein Dollar; £ Pfund/one =ein Pfund; ¥ Yen/one =ein Yen; ° Grad/one =ein Grad; °C Grad Celsius/one =ein Grad Celsius; ⅓ ein Drittel; ⅔ zwei Drittel; ⅛ ein Achtel`,
  el: `– έως; − μείον; + συν; ± συν πλην; × επί; ÷ διά; = ίσον; ≈ περίπου ίσο με; ≠ διάφορο του; ≤ μικρότερο ή ίσο με; ≥ μεγαλύτερο ή ίσο με;
    < μικρότερο από; > μεγαλύτερο από; √ τετραγωνική ρίζα του; ∞ άπειρο; § παράγραφος; № αριθμός; ² στο τετράγωνο; ³ στον κύβο; ^ στη δύναμη; µ μικρο;
    ½ μισό; ¼ ένα τέταρτο; ¾ τρία τέταρτα; & και; ₹ ρουπίες/one ρουπία; ₺ λίρες/one λίρα; ₴ γρίβνες/one γρίβνα; ₪ σέκελ; ₫ ντονγκ; ¢ σεντς/one σεντ;
    £ λίρες/one λίρα; † απεβίωσε; © πνευματική ιδιοκτησία; ® σήμα κατατεθέν; ™ εμπορικό σήμα`,
  en: `− minus; + plus; ± plus or minus; × times; ÷ divided by; = equals; ≈ approximately; ≠ not equal to; ≤ less than or equal to;
    ≥ greater than or equal to; < less than; > greater than; → right arrow; √ square root of; ∞ infinity; § section; № number; ‰ per mille;
    ² squared; ³ cubed; ^ to the power of; π pi; Ω ohms/one ohm; µ micro; ½ a half; ¼ a quarter; ¾ three quarters; & and; © copyright; ® registered;
    ™ trademark; † died; € euros/one euro; ₹ rupees/one rupee; ₺ lira; ₴ hryvnias/one hryvnia; ₪ shekels/one shekel; ₫ dong; ₿ bitcoins/one bitcoin;
    ¢ cents/one cent; £¢ pence/one penny; ₹¢ paise/one paisa; ⅓ a third; ⅔ two thirds; ⅕ a fifth; ⅖ two fifths; ⅗ three fifths; ⅘ four fifths; ⅙ a sixth; ⅚ five sixths; ⅐ a seventh; ⅛ an eighth; ⅜ three eighths; ⅝ five eighths; ⅞ seven eighths; ⅑ a ninth; ⅒ a tenth`,
  eo: `– ĝis; − minus; + plus; ± plus minus; × oble; ÷ dividite per; = egalas al; ≈ proksimume; ≠ ne egalas al; ≤ malpli ol aŭ egala al; ≥ pli ol aŭ egala al;
    < malpli ol; > pli ol; √ kvadrata radiko de; ∞ senfino; § paragrafo; № numero; ‰ promiloj; ° gradoj/one grado; ² kvadrate; ³ kube; π pi; µ mikro;
    ½ duono; ¼ kvarono; ¾ tri kvaronoj; & kaj; → dekstren; © kopirajto; ® registrita; ™ varmarko; $ dolaroj/one dolaro; £ pundoj/one pundo;
    ¥ enoj/one eno; ₹ rupioj/one rupio; ₽ rubloj/one rublo; ₩ vonoj/one vono; ₺ liroj/one liro; ¢ cendoj/one cendo; ₿ bitmonoj/one bitmono; † mortis`,
  es: `– a; − menos; + más; ± más menos; × por; ÷ dividido por; = igual a; ≈ aproximadamente; ≠ distinto de; ≤ menor o igual que; ≥ mayor o igual que;
    < menor que; > mayor que; → flecha a la derecha; √ raíz cuadrada de; ∞ infinito; § sección; № número; ‰ por mil; ² al cuadrado; ³ al cubo; ^ elevado a; π pi;
    µ micro; ½ medio; ¼ un cuarto; ¾ tres cuartos; & y; ₹ rupias/one rupia; ₺ liras/one lira; ₴ grivnas/one grivna; ₪ séqueles/one séquel;
    ₫ dongs/one dong; ¢ centavos/one centavo; ₿ bitcoins/one bitcoin; ® marca registrada; ™ marca comercial; † fallecido; €¢ céntimos/one céntimo; £¢ peniques/one penique; € euros/one =un euro; $ dólares/one =un dólar; £ libras/one =una libra; ° grados/one =un grado; °C grados Celsius/one =un grado Celsius; ⅓ un tercio; ⅔ dos tercios; ⅛ un octavo`,
  et: `− miinus; + pluss; ± pluss miinus; × korda; ÷ jagatud; = võrdub; ≈ umbes; ≠ ei võrdu; ≤ väiksem või võrdne; ≥ suurem või võrdne; < väiksem kui;
    > suurem kui; → nool paremale; √ ruutjuur; ∞ lõpmatus; § paragrahv; № number; ‰ promilli; ² ruudus; ³ kuubis; ^ astmel; π pii; µ mikro; ½ pool;
    ¼ veerand; ¾ kolmveerand; & ja; $ dollarit/one dollar; £ naela/one nael; ₹ ruupiat/one ruupia; ₽ rubla; ₺ liiri/one liir; ₪ seeklit/one seekel;
    ¢ senti/one sent; ₿ bitcoini/one bitcoin; † surnud`,
  eu: `− ken; + gehi; ± gehi edo ken; × bider; ÷ zati; = berdin; ≈ gutxi gorabehera; ≠ ez da berdin; ≤ txikiago edo berdin; ≥ handiago edo berdin;
    < txikiago; > handiago; √ erro karratua; ∞ infinitua; § sekzioa; № zenbakia; ² ber bi; ³ ber hiru; ^ ber; π pi; µ mikro; ½ erdi; ¼ laurden;
    ¾ hiru laurden; & eta; % ehuneko; ₹ errupia; ₺ lira; ¢ zentimo; ₿ bitcoin`,
  fa: `– تا; − منفی; + به اضافه; ± به اضافه منهای; × ضربدر; ÷ تقسیم بر; = مساوی; ≈ تقریبا مساوی; ≠ نامساوی; ≤ کوچکتر یا مساوی; ≥ بزرگتر یا مساوی;
    < کوچکتر از; > بزرگتر از; √ جذر; ∞ بینهایت; § بخش; № شماره; ‰ در هزار; ² به توان دو; ³ به توان سه; ^ به توان; π پی; µ میکرو; ½ یک دوم; ¼ یک چهارم;
    ¾ سه چهارم; & و; ₹ روپیه; ₺ لیر; ₪ شکل; ¢ سنت; ₿ بیت کوین; † درگذشته`,
  fi: `− miinus; + plus; ± plus miinus; × kertaa; ÷ jaettuna; = on yhtä kuin; ≈ noin; ≠ ei ole yhtä kuin; ≤ pienempi tai yhtä suuri kuin;
    ≥ suurempi tai yhtä suuri kuin; < pienempi kuin; > suurempi kuin; → nuoli oikealle; √ neliöjuuri; ∞ ääretön; § pykälä; № numero; ² toiseen; ³ kolmanteen;
    ^ potenssiin; π pii; µ mikro; ½ puoli; ¼ neljäsosa; ¾ kolme neljäsosaa; & ja; ₹ rupiaa/one rupia; ₺ liiraa/one liira; ₴ hryvniaa/one hryvnia;
    ₪ sekeliä/one sekeli; ₫ dongia/one dong; ¢ senttiä/one sentti; ₿ bitcoinia/one bitcoin; † kuollut`,
  fr: `– à; − moins; + plus; ± plus ou moins; × fois; ÷ divisé par; = égale; ≈ environ; ≠ différent de; ≤ inférieur ou égal à; ≥ supérieur ou égal à;
    < inférieur à; > supérieur à; → flèche vers la droite; √ racine carrée de; ∞ infini; § paragraphe; № numéro; ² au carré; ³ au cube; ^ puissance; π pi; µ micro;
    ½ un demi; ¼ un quart; ¾ trois quarts; & et; ₹ roupies/one roupie; ₺ livres turques/one livre turque; ₴ hryvnias/one hryvnia; ₪ shekels/one shekel;
    ₫ dongs/one dong; ¢ cents/one cent; ₿ bitcoins/one bitcoin; © copyright; ® marque déposée; ™ marque commerciale; † mort; €¢ centimes/one centime; ⅓ un tiers; ⅔ deux tiers; ⅛ un huitième`,
  ga: `− lúide; + móide; ± móide nó lúide; × faoi; ÷ roinnte ar; = cothrom le; ≈ thart ar; ≠ ní cothrom le; √ fréamh chearnach; ∞ éigríoch; § alt; № uimhir;
    ² cearnaithe; ³ ciúbaithe; π pí; µ micrea; ½ leath; ¼ ceathrú; ¾ trí cheathrú; & agus; % faoin gcéad; ₹ rúpaí; ₿ bitcoin; ¥ ien; ₩ uan; ₴ grivne`,
  gd: "№ àireamh; π pi",
  gn: "− menos; + más; € euro; $ dólar; £ libra; ¥ yen; ¢ centavo; ° grado; % por ciento; × por; ÷ dividido por; = igual a; ₲ guaraní; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; § vore; № papapy; π pi; ‰ por mil; ½ mbyte; ∞ opaʼỹva",
  gu: "№ નંબર; π પાઇ",
  hak: "− fu; + kâ; × sṳ̀n; ÷ chhù; = tén-yî; ° thu; % pak-fûn-chṳ̂ #; € êu-ngièn; $ mî-ngièn; £ yîn-pong; ¥ ngit-ngièn; ¢ siên; № ho; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om",
  haw: "− hoʻolawe; + hoʻohui; × hoʻonui; ÷ puʻunaue; = like me; $ kālā; € ʻeulo; £ paona; ¥ iena; ¢ keneka; % pākēneka; ° kēkelē; . kiko; № helu; & a me; π pi; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ∞ palena ʻole; § paukū",
  he: `– עד; − מינוס; + פלוס; ± פלוס מינוס; × כפול; ÷ חלקי; = שווה; ≈ בערך; ≠ לא שווה; ≤ קטן או שווה; ≥ גדול או שווה; < קטן מ; > גדול מ; → חץ ימינה;
    √ שורש; ∞ אינסוף; § סעיף; № מספר; ² בריבוע; ³ בשלישית; ^ בחזקת; π פאי; µ מיקרו; ½ חצי; ¼ רבע; ¾ שלושה רבעים; & ו; . נקודה; ₪ שקלים/one שקל; £ לירות/one לירה;
    $ דולר; ₹ רופי; ₺ לירות/one לירה; ₩ וון; † נפטר; Ω אוהם`,
  hi: `– से; − माइनस; + प्लस; ± प्लस माइनस; × गुणा; ÷ भाग; = बराबर; ≈ लगभग; ≠ बराबर नहीं; ≤ से कम या बराबर; ≥ से ज़्यादा या बराबर; < से कम; > से ज़्यादा;
    → दायां तीर; √ वर्गमूल; ∞ अनंत; § धारा; № नंबर; ‰ प्रति हज़ार; ² का वर्ग; ³ का घन; ^ की घात; π पाई; µ माइक्रो; ½ आधा; ¼ चौथाई; ¾ तीन चौथाई; & और;
    ₹ रुपये/one रुपया; ₺ लीरा; ₪ शेकेल; ₫ डोंग`,
  hr: `– do; − minus; + plus; ± plus minus; × puta; ÷ podijeljeno s; = jednako; ≈ približno jednako; ≠ nije jednako; ≤ manje ili jednako; ≥ veće ili jednako;
    < manje od; > veće od; → strelica udesno; √ drugi korijen iz; ∞ beskonačno; § paragraf; № broj; ‰ promila; ² na kvadrat; ³ na treću; ^ na; π pi; µ mikro; ½ pola;
    ¼ četvrtina; ¾ tri četvrtine; & i; ₹ rupija/one rupija/few rupije; ₩ vona/one von/few vona; ₺ lira/one lira/few lire; ₴ hrivnji/one hrivnja/few hrivnje;
    ₪ šekela/one šekel/few šekela; ¢ centi/one cent/few centa; ₿ bitcoina/one bitcoin/few bitcoina`,
  ht: `− mwens; + plis; ± plis oswa mwens; × miltipliye pa; ÷ divize pa; = egal; ≠ pa egal; ° degre; √ rasin kare; ∞ enfini; § seksyon; № nimewo; ‰ pou mil;
    ² okare; ½ mwatye; & ak; € ewo; $ dola; £ liv; ¥ yèn; ₹ woupi; ¢ santim; % pou san; π pi; ₽ woub; ₩ won; ₺ lira; ₴ grivna; ₪ chekel; ₫ dong; ₿ bitkoin; ≤ pi piti oswa egal; ≥ pi gwo oswa egal; ≈ apeprè; © dwa otè; ® anrejistre; ™ mak; → flèch adwat; † mouri`,
  hu: `− mínusz; + plusz; ± plusz mínusz; × szor; ÷ osztva; = egyenlő; ≈ körülbelül; ≠ nem egyenlő; ≤ kisebb vagy egyenlő; ≥ nagyobb vagy egyenlő;
    < kisebb mint; > nagyobb mint; → jobbra nyíl; √ négyzetgyök; ∞ végtelen; § paragrafus; № szám; ‰ ezrelék; ² a négyzeten; ³ a köbön; π pi; µ mikro; ½ fél;
    ¼ negyed; ¾ háromnegyed; & és; ₹ rúpia; ₩ von; ₺ líra; ₴ hrivnya; ₪ sékel; ₫ dong; ® bejegyzett védjegy; © szerzői jog; † elhunyt`,
  hy: `− մինուս; + պլյուս; ± պլյուս մինուս; × բազմապատկած; ÷ բաժանած; = հավասար է; ≈ մոտավորապես հավասար է; √ քառակուսի արմատ; ∞ անվերջություն; § պարագրաֆ;
    № համար; ² քառակուսի; ³ խորանարդ; π պի; µ միկրո; ½ կես; ¼ քառորդ; ¾ երեք քառորդ; & և; ₹ ռուփի; ₽ ռուբլի; ¥ իեն; ₺ լիրա; ‰ պրոմիլ; © հեղինակային իրավունք`,
  ia: `− minus; + plus; ± plus o minus; × vices; ÷ dividite per; = equal a; ≈ approximativemente; ≠ non equal a; √ radice quadrate de; ∞ infinito; § section;
    № numero; ° grados/one grado; ² al quadrato; ³ al cubo; ½ medie; & e; , comma; $ dollares/one dollar; £ libras/one libra; ¥ yen; ¢ centimos/one centimo; % per cento;
    ‰ per mille; µ micro; π pi; ≤ minor o equal a; ≥ major o equal a; → sagitta a dextra; † morte; © copyright; ® registrate; ™ marca; ₿ bitcoin`,
  id: `– sampai; − minus; + plus; ± plus minus; × kali; ÷ dibagi; = sama dengan; ≈ kira-kira; ≠ tidak sama dengan; ≤ kurang dari atau sama dengan;
    ≥ lebih dari atau sama dengan; < kurang dari; > lebih dari; → panah kanan; √ akar kuadrat dari; ∞ tak terhingga; § pasal; № nomor; ‰ per mil; ² kuadrat; ³ pangkat tiga;
    ^ pangkat; π pi; µ mikro; ½ setengah; ¼ seperempat; ¾ tiga perempat; & dan; £ pound; ₹ rupee; ₺ lira; ¢ sen; € euro`,
  io: "− minus; + plus; × per; ÷ dividita per; = esas egala a; € euri/one euro; $ dolari/one dolaro; £ pundi/one pundo; ¥ yeni/one yeno; ° gradi/one grado; № numero; % po cent; ¢ centimi/one centimo; & e; π pi; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ± plus o minus; ∞ infinito; § paragrafo; √ quadrata radiko di; ≈ cirkume; ≠ ne egala; ‰ po mil; ≤ min granda kam od egala a; ≥ plu granda kam od egala a; † mortis; → dextre",
  is: `− mínus; + plús; ± plús mínus; × sinnum; ÷ deilt með; = jafnt og; ≈ um það bil; ≠ ekki jafnt og; ≤ minna en eða jafnt og; ≥ stærra en eða jafnt og;
    < minna en; > stærra en; √ kvaðratrótin af; ∞ óendanlegt; § grein; № númer; ² í öðru veldi; ³ í þriðja veldi; π pí; µ míkró; ½ hálfur; ¼ fjórðungur;
    ¾ þrír fjórðu; & og; $ dalir/one dalur; £ pund; ¥ jen; ₹ rúpíur/one rúpía; ₩ vonn; ¢ sent`,
  it: `– a; − meno; + più; ± più o meno; × per; ÷ diviso; = uguale a; ≈ circa; ≠ diverso da; ≤ minore o uguale a; ≥ maggiore o uguale a; < minore di;
    > maggiore di; → freccia a destra; √ radice quadrata di; ∞ infinito; § paragrafo; № numero; ‰ per mille; ² al quadrato; ³ al cubo; ^ elevato a; π pi greco;
    µ micro; ½ un mezzo; ¼ un quarto; ¾ tre quarti; & e; ₹ rupie/one rupia; ₺ lire turche/one lira turca; ₴ grivne/one grivna; ₪ shekel; ₫ dong;
    ¢ centesimi/one centesimo; ₿ bitcoin; ® marchio registrato; ™ marchio; † morto; £¢ pence; € euro/one =un euro; $ dollari/one =un dollaro; £ sterline/one =una sterlina; ° gradi/one =un grado; ⅓ un terzo; ⅔ due terzi; ⅛ un ottavo`,
  ja: `– から; − マイナス; + プラス; ± プラスマイナス; × かける; ÷ わる; = イコール; ≈ やく; ≠ ノットイコール; ≤ いか; ≥ いじょう; < しょうなり; > だいなり; → みぎやじるし; √ ルート;
    ∞ むげんだい; § セクション; № ナンバー; ‰ パーミル; % パーセント; ° ど; °C ど; °F かし # ど; ² の にじょう; ³ の さんじょう; π パイ; Ω オーム; µ マイクロ; ½ にぶんのいち;
    ¼ よんぶんのいち; ¾ よんぶんのさん; & アンド; . てん; € ユーロ; $ ドル; £ ポンド; ¥ えん; ₹ ルピー; ₽ ルーブル; ₩ ウォン; ₺ リラ; ₴ フリヴニャ; ₪ シェケル; ₫ ドン; ¢ セント;
    © コピーライト; ® とうろくしょうひょう; ™ トレードマーク; m² へいほうメートル; km² へいほうキロメートル; cm² へいほうセンチメートル; m³ りっぽうメートル; cm³ りっぽうセンチメートル;
    km³ りっぽうキロメートル; µs マイクロびょう; m/s² メートルまいびょうまいびょう; † ぼつ; ₿ ビットコイン`,
  jbo: "− ni'u; + ma'u; × pi'i; ÷ fe'i; = du; % ce'i; π pai; ∞ ci'i",
  ka: `− მინუს; + პლუს; ± პლუს მინუს; × გამრავლებული; ÷ გაყოფილი; = უდრის; ≈ დაახლოებით; ≠ არ უდრის; √ კვადრატული ფესვი; ∞ უსასრულობა; § პარაგრაფი; № ნომერი;
    ² კვადრატში; ³ კუბში; π პი; µ მიკრო; ½ ნახევარი; ¼ მეოთხედი; ¾ სამი მეოთხედი; & და; £ ფუნტი; ₹ რუპია; ₺ ლირა; ₾ ლარი; ° გრადუსი`,
  kk: `− минус; + қосу; ± плюс минус; × көбейту; ÷ бөлу; = тең; ≈ шамамен; ≠ тең емес; √ квадрат түбір; ∞ шексіздік; § параграф; № нөмір; ² квадрат; ³ куб; π пи;
    µ микро; ½ жарты; ¼ ширек; & және; € еуро; ₹ рупий; ₺ лира; ₸ теңге; ° градус; ™ сауда белгісі; ® тіркелген сауда белгісі`,
  kl: "− minus; + plus; ± plus minus; × gange; = assigalugu; € euro; $ dollari; £ pundi; ¥ yen; ¢ centi; % procent; ° gradi; № normu; § paragraffi; π pi; ½ affaa; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ∞ naassaanngitsoq; ‰ promille; ÷ agguarneq; √ kvadratrod; ≈ missaani; ≠ assigiinngitsoq",
  kn: "№ ಸಂಖ್ಯೆ; π ಪೈ",
  ko: `– 에서; − 마이너스; + 더하기; ± 플러스 마이너스; × 곱하기; ÷ 나누기; = 는; ≈ 약; ≠ 같지 않음; ≤ 작거나 같음; ≥ 크거나 같음; < 작음; > 큼; → 오른쪽 화살표; √ 루트;
    ∞ 무한대; § 섹션; № 번호; ‰ 퍼밀; % 퍼센트; ° 도; ² 제곱; ³ 세제곱; π 파이; Ω 옴; µ 마이크로; ½ 이분의 일; ¼ 사분의 일; ¾ 사분의 삼; & 앤드; . 점; € 유로;
    $ 달러; £ 파운드; ¥ 엔; ₹ 루피; ₽ 루블; ₩ 원; ₺ 리라; ₪ 셰켈; ₫ 동; ¢ 센트; © 저작권; ® 등록 상표; ™ 상표; † 사망`,
  kok: "№ क्रमांक; π पाय; ° अंश",
  ku: "− kêm; + zêde; ± kêm an zêde; × carî; ÷ dabeşî; = wekhev; ≈ nêzîkî; ° pile; % ji sedî #; № hejmar; ½ nîv; & û; π pi; ¢ sent; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ≤ kêmtir an wekhev; ≥ zêdetir an wekhev; √ kok; ∞ bêdawî; ‰ ji hezarî #; → tîra rast; © mafê belavkirinê; ® tomarkirî; ™ nîşana bazirganî",
  ky: "π пи",
  la: `− minus; + plus; ± plus minus; × multiplicatum per; ÷ divisum per; = aequat; √ radix quadrata; ∞ infinitum; § sectio; № numerus; ° gradus; ½ dimidium; & et; . punctum;
    € euro; $ dollaria/one dollarium; £ librae/one libra; ¥ ieni; ¢ centesimae/one centesima; % centesimae; ‰ millesimae; π pi; ² quadratum; ³ cubus; † obiit; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ≈ circiter; ≠ non aequat; ≤ minor aut aequalis; ≥ maior aut aequalis; → dextrorsum; © iura auctoris; ® descriptum; ™ nota mercatoria`,
  lb: `− minus; + plus; ± plus minus; × mol; ÷ gedeelt duerch; = gläich; ≈ ongeféier; ≠ net gläich; < méi kleng wéi; > méi grouss wéi; √ Wuerzel aus; ∞ onendlech;
    § Paragraph; № Nummer; ² am Quadrat; ³ hoch dräi; ^ hoch; π Pi; µ Mikro; ½ en halleft; ¼ e Véierel; ¾ dräi Véierel; & an; , Komma; $ Dollar; £ Pond; ¥ Yen;
    ₹ Rupien/one Rupie; ¢ Cent; ₿ Bitcoin; † gestuerwen; % Prozent; ‰ Promill; ≤ méi kleng oder gläich; ≥ méi grouss oder gläich; → Feil no riets`,
  lfn: "− minus; + plus; × multiplida par; ÷ divideda par; = egal; € euros/one euro; $ dolares/one dolar; £ paundes/one paunde; ¥ ienes/one ien; ° grados/one grado; № numero; ¢ sentimos/one sentimo; & e; π pi; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ± plu min; ∞ infinita; § sesion; ‰ per mil; √ radis cuadro de; ≈ sirca; ≠ no egal; ≤ minor o egal; ≥ major o egal; → flexa a destra; † mor; © direto de autor; ® rejistrada; ™ marca",
  lt: `− minus; + plius; ± plius minus; × kart; ÷ padalinta iš; = lygu; ≈ apytiksliai; ≠ nelygu; ≤ mažiau arba lygu; ≥ daugiau arba lygu; < mažiau už;
    > daugiau už; → rodyklė į dešinę; √ kvadratinė šaknis iš; ∞ begalybė; § paragrafas; № numeris; ² kvadratu; ³ kubu; π pi; µ mikro; ½ pusė; ¼ ketvirtis;
    ¾ trys ketvirčiai; & ir; ₹ rupijų/one rupija/few rupijos/many rupijos; ₺ lirų/one lira/few liros/many liros; ¢ centų/one centas/few centai/many cento;
    ₿ bitkoinų/one bitkoinas/few bitkoinai/many bitkoino; ‰ promilių/one promilė/few promilės/many promilės`,
  ltg: "− minus; + plius; ± plius minus; = leidzynoj; € eiro; $ dolari/one dolars; £ mārceņas/one mārceņa; ¥ jenas/one jena; ° gradi/one grads; № numers; ¢ centi/one cents; & i; ½ puse; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; × reizes; ÷ dalit; ∞ bezgaleiba; √ kvadratsakne; ≈ aptyvai; ≠ nav vīnaids; → pa labi; © autortīseibys; ® registrāta; ™ preču zeime; † miris; ≤ mozuoks voi vīnaids; ≥ leluoks voi vīnaids",
  lv: `− mīnus; + plus; ± plus mīnus; × reiz; ÷ dalīts ar; = ir vienāds ar; ≈ aptuveni; ≠ nav vienāds ar; ≤ mazāks vai vienāds ar; ≥ lielāks vai vienāds ar;
    < mazāks par; > lielāks par; → bultiņa pa labi; √ kvadrātsakne no; ∞ bezgalība; § paragrāfs; № numurs; ² kvadrātā; ³ kubā; π pī; µ mikro; ½ puse; ¼ ceturtdaļa;
    ¾ trīs ceturtdaļas; & un; ₹ rūpijas/one rūpija/zero rūpiju; ₺ liras/one lira/zero liru; ¢ centi/one cents/zero centu; ₿ bitkoini/one bitkoins/zero bitkoinu`,
  mi: "− tango; + tāpiri; × whakarau; ÷ whakawehe; = rite; € iūro; $ tāra; £ pauna; ¥ iene; ¢ hēneti; % ōrau; ° putu; № nama; . ira; & me; ½ haurua; π pai; ₹ rupi; ₽ rupara; ₩ wona; ₺ rira; ₴ hirīwina; ₪ hēkere; ₫ tonga; ₿ pitikoina; Ω ōma; ; ∞ mutunga kore; § wāhanga; ‰ mano ōrau",
  mk: `– до; − минус; + плус; ± плус минус; × по; ÷ поделено со; = еднакво на; ≈ приближно; ≠ не е еднакво на; ≤ помало или еднакво на; ≥ поголемо или еднакво на;
    < помало од; > поголемо од; √ квадратен корен од; ∞ бесконечност; § параграф; № број; ‰ промили; ² на квадрат; ³ на куб; ^ на; π пи; µ микро; ½ половина;
    ¼ четвртина; ¾ три четвртини; & и; ₹ рупии/one рупија; ₺ лири/one лира; ¢ центи/one цент; € евра/one евро`,
  ml: "№ നമ്പർ; π പൈ; Ω ഓം",
  mr: `− उणे; + अधिक; ± अधिक उणे; × गुणिले; ÷ भागिले; = बरोबर; ≈ अंदाजे; ≠ बरोबर नाही; √ वर्गमूळ; ∞ अनंत; § कलम; № क्रमांक; ² वर्ग; ³ घन; π पाय; µ मायक्रो; ½ अर्धा; ¼ पाव;
    ¾ पाऊण; & आणि; ₹ रुपये/one रुपया; £ पाउंड; ₺ लिरा`,
  ms: `– hingga; − tolak; + tambah; ± tambah tolak; × darab; ÷ bahagi; = sama dengan; ≈ kira-kira; ≠ tidak sama dengan; ≤ kurang daripada atau sama dengan;
    ≥ lebih daripada atau sama dengan; < kurang daripada; > lebih daripada; → anak panah kanan; √ punca kuasa dua; ∞ infiniti; § seksyen; № nombor; ‰ per seribu;
    ² kuasa dua; ³ kuasa tiga; ^ kuasa; π pi; µ mikro; ½ setengah; ¼ suku; ¾ tiga suku; & dan; € euro; ₹ rupee; ₽ rubel; ₺ lira; ¢ sen; `,
  mt: `− minus; + plus; ± plus jew minus; × immoltiplikat bi; ÷ diviż bi; = daqs; ≈ madwar; ≠ mhux daqs; √ għerq kwadru; ∞ infinit; § taqsima; № numru; ° grad; ² kwadrat;
    ½ nofs; ¼ kwart; & u; $ dollari/one dollaru; £ liri/one lira; ¥ yen; ₹ rupi; ¢ ċenteżmi/one ċenteżmu; % fil-mija; ‰ fl-elf; π pi; µ mikro; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ≤ inqas jew daqs; ≥ aktar jew daqs; → vleġġa lejn il-lemin; † miet`,
  my: "− အနုတ်; + အပေါင်း; × အမြှောက်; ÷ အစား; = ညီမျှ; . ဒသမ; ₹ ရူပီး; ‰ တစ်ထောင်လျှင်; № နံပါတ်; π ပိုင်; Ω အုမ်း",
  nb: `– til; − minus; + pluss; ± pluss minus; × ganger; ÷ delt på; = er lik; ≈ omtrent; ≠ er ikke lik; ≤ mindre enn eller lik; ≥ større enn eller lik;
    < mindre enn; > større enn; → pil til høyre; √ kvadratroten av; ∞ uendelig; § paragraf; № nummer; ² i andre; ³ i tredje; ^ opphøyd i; π pi; µ mikro; ½ en halv;
    ¼ en kvart; ¾ tre kvart; & og; ° grader/one grad; ₹ rupier/one rupi; ₺ lira; ₴ hryvnia; ₪ shekel; ₫ dong; † død`,
  ne: "№ नम्बर; π पाई; Ω ओम",
  nl: `– tot; − min; + plus; ° graden/one graad; ± plus of min; × keer; ÷ gedeeld door; = is; ≈ ongeveer; ≠ is niet gelijk aan; ≤ kleiner dan of gelijk aan;
    ≥ groter dan of gelijk aan; < kleiner dan; > groter dan; → pijl naar rechts; √ wortel van; ∞ oneindig; § paragraaf; № nummer; ‰ promille; ² kwadraat; ³ tot de derde;
    ^ tot de macht; π pi; µ micro; ½ een half; ¼ een kwart; ¾ drie kwart; & en; £ pond; ₹ roepie; ₺ lira; ₴ hryvnia; ₪ sjekel; ₫ dong; ₿ bitcoin; ™ handelsmerk;
    ® geregistreerd; † overleden; . punt; £¢ pence`,
  nog: "− минус; + плюс; × коьбейтуьв; = тенъ; ° градус; % процент; № номер; € евро; $ доллар; £ фунт; ¥ иена; ₽ маьнет; ¢ цент; § параграф; π пи; Ω ом; ² квадрат; ₹ рупий; ₺ лира; ₴ гривна; ₪ шекель; ₫ донг; ₿ биткоин; ₩ вон; °C градус Цельсий; °F градус Фаренгейт; ± плюс минус; ÷ боьлуьв; ‰ промилле",
  om: "− hir'isuu; + ida'uu; × baay'isuu; ÷ hiruu; = walqixa; € yuuroo; $ doolaara; £ paawundii; ¥ yenii; ¢ saantima; ° digirii; % dhibbantaa; № lakkoofsa; ½ walakkaa; π paayi; ₺ liiraa; ₴ hiriiviniyaa; ₪ sheekelii; ₫ dongii; ₿ bitkooyinii; Ω oomii; § kutaa; ‰ kumaffaa; ∞ dhuma hin qabne; ± ida'uu yookiin hir'isuu; √ hundee",
  or: "№ ନମ୍ବର; π ପାଇ",
  pa: "№ ਨੰਬਰ; π ਪਾਈ",
  pap: `− ménos; + plus; ± plus ménos; × bes; ÷ dividí pa; = igual na; ≈ aproximadamente; € euro; $ dòler; £ pònt; ¥ yen; ¢ sèn; ° grado; % porshento; ‰ promil; № number; § paragraf;
    ½ mitar; & i; . punto; π pi; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ∞ infinito; √ rais kuadrá; ≤ menor òf igual; ≥ mayor òf igual; ≠ no igual; † fayesé; © derecho di outor; ® registrá; ™ marka; → fleche na drechi`,
  pl: `– do; − minus; + plus; ± plus minus; × razy; ÷ podzielić przez; = równa się; ≈ około; ≠ nie równa się; ≤ mniejsze lub równe; ≥ większe lub równe;
    < mniejsze niż; > większe niż; → strzałka w prawo; √ pierwiastek z; ∞ nieskończoność; § paragraf; № numer; ² do kwadratu; ³ do sześcianu; ^ do potęgi; π pi;
    µ mikro; ½ jedna druga; ¼ jedna czwarta; ¾ trzy czwarte; & i; ₹ rupii/one rupia/few rupie; ₺ lir/one lira/few liry; ₴ hrywien/one hrywna/few hrywny;
    ₪ szekli/one szekel/few szekle; ₫ dongów/one dong/few dongi; ¢ centów/one cent/few centy; ₿ bitcoinów/one bitcoin/few bitcoiny; † zmarł; . kropka;
    ‰ promili/one promil/few promile`,
  pt: `– a; − menos; + mais; ± mais ou menos; × vezes; ÷ dividido por; = igual a; ≈ aproximadamente; ≠ diferente de; ≤ menor ou igual a; ≥ maior ou igual a;
    < menor que; > maior que; → seta para a direita; √ raiz quadrada de; ∞ infinito; § parágrafo; № número; ‰ por mil; ² ao quadrado; ³ ao cubo; ^ elevado a; π pi;
    µ micro; ½ meio; ¼ um quarto; ¾ três quartos; & e; € euros/one =um euro; ₹ rupias/one rupia; ₺ liras turcas/one lira turca; ₴ hryvnias/one hryvnia; ₪ shekels/one shekel;
    ₫ dongs/one dong; ¢ centavos/one centavo; ₿ bitcoins/one bitcoin; ® marca registrada; ™ marca; † falecido; . ponto; €¢ cêntimos/one cêntimo; $ dólares/one =um dólar; £ libras/one =uma libra; ° graus/one =um grau; ⅓ um terço; ⅔ dois terços; ⅛ um oitavo`,
  qu: "− menos; + yapana; € euro; $ dólar; £ libra; ¥ yen; ¢ centavo; ° grado; % pachakpi; , coma; ½ kuska; π pi; № yupay",
  ro: `– până la; − minus; + plus; ± plus minus; × ori; ÷ împărțit la; = egal cu; ≈ aproximativ; ≠ diferit de; ≤ mai mic sau egal cu; ≥ mai mare sau egal cu;
    < mai mic decât; > mai mare decât; → săgeată la dreapta; √ radical din; ∞ infinit; § paragraful; № numărul; ² la pătrat; ³ la cub; ^ la puterea; π pi; µ micro;
    ½ jumătate; ¼ un sfert; ¾ trei sferturi; & și; ₹ rupii/one rupie; ₺ lire turcești/one liră turcească; ₴ grivne/one grivnă; ₪ shekeli/one shekel;
    ₫ dongi/one dong; ¢ cenți/one cent; ₿ bitcoini/one bitcoin; † decedat; . punct`,
  ru: `– до; − минус; + плюс; ± плюс минус; × умножить на; ÷ разделить на; = равно; ≈ приблизительно; ≠ не равно; ≤ меньше или равно; ≥ больше или равно;
    < меньше; > больше; → стрелка вправо; √ квадратный корень из; ∞ бесконечность; § параграф; № номер; ² в квадрате; ³ в кубе; ^ в степени; π пи; µ микро; ½ одна вторая;
    ¼ одна четвёртая; ¾ три четвёртых; & и; ₹ рупии/many рупий/one рупия; ₺ лиры/many лир/one лира; ₴ гривны/many гривен/one гривна;
    ₪ шекеля/many шекелей/one шекель; ₫ донга/many донгов/one донг; ¢ цента/many центов/one цент; ₿ биткоина/many биткоинов/one биткоин; © авторское право;
    ® зарегистрированный товарный знак; † умер; ₽¢ копейки/many копеек/one копейка`,
  sd: "№ نمبر; π پائي",
  si: "№ අංක; π පයි",
  sk: `– až; − mínus; + plus; ± plus mínus; × krát; ÷ delené; = rovná sa; ≈ približne; ≠ nerovná sa; ≤ menšie alebo rovné; ≥ väčšie alebo rovné;
    < menšie ako; > väčšie ako; → šípka doprava; √ odmocnina z; ∞ nekonečno; § paragraf; № číslo; ‰ promile; ² na druhú; ³ na tretiu; ^ na; π pí; µ mikro; ½ jedna polovica;
    ¼ jedna štvrtina; ¾ tri štvrtiny; & a; ₹ rupií/one rupia/few rupie/many rupie; ₺ lír/one líra/few líry/many líry; ¢ centov/one cent/few centy/many centu;
    ₿ bitcoinov/one bitcoin/few bitcoiny/many bitcoinu; † zomrel`,
  sl: `– do; − minus; + plus; ± plus minus; × krat; ÷ deljeno z; = je enako; ≈ približno; ≠ ni enako; ≤ manjše ali enako; ≥ večje ali enako; < manjše od;
    > večje od; → puščica desno; √ kvadratni koren iz; ∞ neskončno; § paragraf; № številka; ² na kvadrat; ³ na tretjo; ^ na; π pi; µ mikro; ½ pol; ¼ četrtina; ¾ tri četrtine;
    & in; ₹ rupij/one rupija/two rupiji/few rupije; ₺ lir/one lira/two liri/few lire; ¢ centov/one cent/two centa/few centi; ₿ bitcoinov/one bitcoin/two bitcoina/few bitcoini`,
  smj: "− minus; + plus; ± plus minus; × gerda; = l avtan; € euro; $ dollar; £ pund; ¥ yen; ¢ sent; ° gráda; % prosænnta; № nummar; § paragráffa; & ja; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; ∞ gáraduhtes; ‰ promilla; ÷ juogedum; ≈ sulle",
  sq: `− minus; + plus; ± plus minus; × herë; ÷ pjesëtuar me; = baras; ≈ afërsisht; ≠ jo baras; √ rrënja katrore e; ∞ infinit; § paragrafi; № numër; ‰ përmijë;
    ² në katror; ³ në kub; π pi; µ mikro; ½ gjysmë; ¼ çerek; ¾ tre çerekë; & dhe; £ paund; ₹ rupi; ₺ lira; ¢ cent; . pikë`,
  sr: `– до; − минус; + плус; ± плус минус; × пута; ÷ подељено са; = једнако; ≈ приближно; ≠ није једнако; ≤ мање или једнако; ≥ веће или једнако; < мање од;
    > веће од; √ квадратни корен из; ∞ бесконачно; § параграф; № број; ‰ промила; ² на квадрат; ³ на трећи; ^ на; π пи; µ микро; ½ пола; ¼ четвртина; ¾ три четвртине;
    & и; € евра/one евро/few евра; ₹ рупија/one рупија/few рупије; ₺ лира/one лира/few лире; ¢ центи/one цент/few цента`,
  sv: `– till; − minus; + plus; ± plus minus; × gånger; ÷ delat med; = är lika med; ≈ ungefär; ≠ är inte lika med; ≤ mindre än eller lika med;
    ≥ större än eller lika med; < mindre än; > större än; → högerpil; √ kvadratroten ur; ∞ oändligheten; § paragraf; № nummer; ² i kvadrat; ³ i kubik; ^ upphöjt till;
    π pi; µ mikro; ½ en halv; ¼ en fjärdedel; ¾ tre fjärdedelar; & och; , komma; ₹ rupier/one rupie; ₺ lira; ₴ hryvnia; ₪ shekel; ₫ dong; © copyright;
    ® registrerat varumärke; ™ varumärke; † död`,
  sw: `− kutoa; + kujumlisha; ± kujumlisha au kutoa; × mara; ÷ kugawanya kwa; = sawa na; ≈ takriban; ≠ si sawa na; ≤ chini ya au sawa na; ≥ zaidi ya au sawa na;
    < chini ya; > zaidi ya; √ kipeo cha pili cha; ∞ isiyo na mwisho; № namba; ² mraba; ³ mchemraba; π pai; µ mikro; Ω omu; ½ nusu; ¼ robo; ¾ robo tatu; & na; ₹ rupia #; ₺ lira #;
    ₽ rubo #; ‰ kwa elfu; % asilimia #; € yuro #; £ pauni #; ¥ yeni #; ₩ won #; ¢ senti #; ₿ bitcoin #; $ dola #; ° digrii #`,
  ta: `− கழித்தல்; + கூட்டல்; × பெருக்கல்; ÷ வகுத்தல்; = சமம்; ≈ தோராயமாக; ≠ சமம் அல்ல; √ வர்க்கமூலம்; ∞ முடிவிலி; § பிரிவு; № எண்; ² வர்க்கம்; ³ கனம்; π பை; µ மைக்ரோ;
    ½ அரை; ¼ கால்; ¾ முக்கால்; & மற்றும்; ₹ ரூபாய்; $ டாலர்; £ பவுண்டு; € யூரோ`,
  te: `− మైనస్; + ప్లస్; ± ప్లస్ మైనస్; × గుణకారం; ÷ భాగహారం; = సమానం; ≈ సుమారు; √ వర్గమూలం; ∞ అనంతం; № నంబర్; ² వర్గం; ³ ఘనం; π పై; µ మైక్రో; ½ అర; ¼ పావు; ¾ ముప్పావు; & మరియు;
    ₹ రూపాయలు/one రూపాయి; ¥ యెన్; ₽ రూబుల్`,
  th: `– ถึง; − ลบ; + บวก; ± บวกลบ; × คูณ; ÷ หาร; = เท่ากับ; ≈ ประมาณ; ≠ ไม่เท่ากับ; √ รากที่สองของ; ∞ อนันต์; § มาตรา; № เลขที่; ‰ ต่อพัน; % เปอร์เซ็นต์; ² ยกกำลังสอง; ³ ยกกำลังสาม;
    ^ ยกกำลัง; π พาย; Ω โอห์ม; µ ไมโคร; ½ ครึ่ง; ¼ หนึ่งในสี่; ¾ สามในสี่; & และ; . จุด; $ ดอลลาร์; £ ปอนด์; ¥ เยน; ₹ รูปี; ₽ รูเบิล; ₩ วอน; ₺ ลีรา; ₫ ดอง; ฿ บาท`,
  tk: "− minus; + goşmak; × köpeltmek; ÷ bölmek; = deňdir; , otur; € ýewro; ₹ rupiýa; № belgi; & we; ½ ýarym; ° dereje; π pi",
  tn: "− tlosa; + tlhakanya; € euro; $ dolara; £ ponto; ¥ yen; ¢ sente; ° dikgato; № nomoro; & le; % peresente; π pi; ₹ rupi; ₽ rubel; ₩ won; ₺ lira; ₴ hrivna; ₪ shekel; ₫ dong; ₿ bitcoin; Ω om; § karolo; ‰ ka sekete; ∞ bosakhutleng; × atisa; ÷ kgaoganya; = lekana",
  tr: `− eksi; + artı; ± artı eksi; × çarpı; ÷ bölü; = eşittir; ≈ yaklaşık; ≠ eşit değildir; ≤ küçük eşit; ≥ büyük eşit; < küçüktür; > büyüktür; → sağ ok;
    √ karekök; ∞ sonsuz; § paragraf; № numara; ‰ binde #; ² kare; ³ küp; ^ üssü; π pi; µ mikro; ½ yarım; ¼ çeyrek; ¾ dörtte üç; & ve; € avro; £ sterlin; ₹ rupi; ₺ lira;
    ₴ grivna; ₪ şekel; ₫ dong; © telif hakkı; ® tescilli marka; ™ ticari marka; † ölüm`,
  tt: "− минус; + плюс; ± плюс минус; × тапкырлау; ÷ бүлү; = тигез; ≈ якынча; ° градус; § параграф; № номер; $ доллар; £ фунт; ¥ иена; ₹ рупия; ₩ вона; ¢ цент; % процент; ½ ярты; & һәм; π пи; ₿ биткоин; Ω ом; ‰ промилле; ∞ чиксезлек; © авторлык хокукы; ® теркәлгән; ™ сәүдә билгесе",
  ug: "− مىنۇس; + قوشۇ; × كۆپەيتىش; ÷ بۆلۈش; = تەڭ; ° گرادۇس; № نومۇر; $ دوللار; £ فوند; ¥ يېن; ₹ رۇپى; ¢ سېنت; % پىرسەنت; ½ يېرىم; & ۋە; π پى; ₿ بىتكوين; ‰ پرومىل; Ω ئوم; ∞ چەكسىز; § بۆلەك; ± قوشۇ ئېلىش",
  uk: `– до; − мінус; + плюс; ± плюс мінус; × помножити на; ÷ поділити на; = дорівнює; ≈ приблизно; ≠ не дорівнює; ≤ менше або дорівнює; ≥ більше або дорівнює;
    < менше ніж; > більше ніж; → стрілка вправо; √ квадратний корінь з; ∞ нескінченність; § параграф; № номер; ² у квадраті; ³ у кубі; ^ у степені; π пі; µ мікро;
    ½ одна друга; ¼ одна четверта; ¾ три четверті; & і; ¥ єни/many єн/one єна; ₹ рупії/many рупій/one рупія; ₺ ліри/many лір/one ліра;
    ₴ гривні/many гривень/one гривня; ₪ шекелі/many шекелів/one шекель; ₫ донги/many донгів/one донг; ¢ центи/many центів/one цент;
    ₿ біткоїни/many біткоїнів/one біткоїн; ‰ проміле; † помер; . крапка; ₴¢ копійки/many копійок/one копійка`,
  ur: `− منفی; + جمع; ± جمع منفی; × ضرب; ÷ تقسیم; = برابر; ≈ تقریبا; ≠ برابر نہیں; √ جذر; ∞ لامتناہی; § دفعہ; № نمبر; ² مربع; ³ مکعب; π پائی; µ مائیکرو; ½ آدھا; ¼ چوتھائی;
    ¾ تین چوتھائی; & اور; ₹ روپے/one روپیہ; ₺ لیرا; ₿ بٹ کوائن`,
  uz: `− minus; + qoʻshuv; ± plyus minus; × karra; ÷ boʻlinadi; = teng; ≈ taxminan; ≠ teng emas; √ kvadrat ildiz; ∞ cheksizlik; § paragraf; № raqam; ² kvadrat; ³ kub; π pi;
    µ mikro; ½ yarim; ¼ chorak; & va; , vergul; £ funt; ₹ rupiya; ¥ iyena; ₺ lira; ° daraja`,
  vi: `– đến; − âm; + cộng; ± cộng trừ; × nhân; ÷ chia; = bằng; ≈ xấp xỉ; ≠ khác; ≤ nhỏ hơn hoặc bằng; ≥ lớn hơn hoặc bằng; < nhỏ hơn; > lớn hơn;
    → mũi tên phải; √ căn bậc hai của; ∞ vô cực; № số; ² bình phương; ³ lập phương; ^ mũ; π pi; µ micro; Ω ôm; ½ một nửa; ¼ một phần tư; ¾ ba phần tư; & và;
    $ đô la; £ bảng; ¥ yên; ₹ ru pi; ₽ rúp; ₺ lia; ₪ sê ken; ₫ đồng; ¢ xu`,
  yue: `– 到; − 負; + 加; ± 正負; × 乘; ÷ 除以; = 等於; ≈ 約等於; ≠ 唔等於; ≤ 細過或者等於; ≥ 大過或者等於; < 細過; > 大過; → 向右箭咀; √ 根號; ∞ 無限; § 第; № 號; ‰ 千分之 #;
    % 百分之 #; ° 度; °C 度; °F 華氏 # 度; ² 平方; ³ 立方; π 拍; Ω 歐姆; µ 微; ½ 二分一; ¼ 四分一; ¾ 四分三; & 同; . 點; € 歐元; $ 蚊; ¥ 円; ₹ 盧比; ₽ 盧布; ₩ 韓元; ₺ 里拉; ₫ 越南盾; ¢ 仙;
    † 歿`,
  zh: `– 到; − 负; + 加; ± 正负; × 乘; ÷ 除以; = 等于; ≈ 约等于; ≠ 不等于; ≤ 小于等于; ≥ 大于等于; < 小于; > 大于; → 向右箭头; √ 根号; ∞ 无穷大; § 第; № 号;
    ‰ 千分之 #; % 百分之 #; ° 度; °C 摄氏度; °F 华氏度; ² 平方; ³ 立方; π 派; Ω 欧姆; µ 微; ½ 二分之一; ¼ 四分之一; ¾ 四分之三; & 和; . 点; € 欧元; $ 美元; £ 英镑; ¥ 元;
    ₹ 卢比; ₽ 卢布; ₩ 韩元; ₺ 里拉; ₪ 谢克尔; ₫ 越南盾; ¢ 美分; ₿ 比特币; © 版权; ® 注册商标; ™ 商标; † 逝世`,
};
