import type { WebsiteConfig } from "../api/website-config.ts";

/** Labels by language tag, which replace those of the library. */
export type LabelOverrides = WebsiteConfig["features"]["webPlayer"]["labels"];
export type LabelName = keyof LabelOverrides[string];

/** The order of the labels in each translation. Labels are separated by `|` or a new line. */
const names = [
  ...(["article", "listen", "pause", "resume", "tryAgain", "previous", "next"] as const),
  ...(["position", "paragraph", "time", "speed", "download", "copyLink", "linkCopied", "poweredBy"] as const),
  ...(["waiting", "failed", "unavailable"] as const),
  ...(["miniPlayer", "show", "close", "allowSpeech"] as const),
] satisfies LabelName[];

const translations: Readonly<Record<string, string>> = {
  ar: `الاستماع إلى هذا المقال|استماع|إيقاف مؤقت|استئناف|إعادة المحاولة|الفقرة السابقة|الفقرة التالية
    الموضع|الفقرة {n} من {count}|الوقت|السرعة|تنزيل|نسخ الرابط عند هذا الوقت|تم نسخ الرابط|مدعوم من Voxledger
    يُرجى الانتظار…|تعذّرت قراءة المقال بصوت عالٍ.|الاستماع غير متاح حاليًا
    مشغّل المقال|إظهار المشغّل|إغلاق|السماح بتشغيل الصوت`,
  bn: `এই নিবন্ধটি শুনুন|শুনুন|বিরতি|আবার চালু করুন|আবার চেষ্টা করুন|আগের অনুচ্ছেদ|পরের অনুচ্ছেদ
    অবস্থান|{count}টির মধ্যে {n} নম্বর অনুচ্ছেদ|সময়|গতি|ডাউনলোড করুন|এই সময়ের লিঙ্ক কপি করুন|লিঙ্ক কপি হয়েছে|Voxledger দ্বারা চালিত
    অপেক্ষা করুন…|নিবন্ধটি পড়ে শোনানো যায়নি।|শোনার সুবিধা এখন উপলভ্য নয়
    নিবন্ধের প্লেয়ার|প্লেয়ার দেখান|বন্ধ করুন|অডিও চালানোর অনুমতি দিন`,
  de: `Diesen Artikel anhören|Anhören|Pause|Fortsetzen|Erneut versuchen|Vorheriger Absatz|Nächster Absatz
    Position|Absatz {n} von {count}|Zeit|Geschwindigkeit|Herunterladen|Link zu dieser Stelle kopieren|Link kopiert|Bereitgestellt von Voxledger
    Bitte warten…|Der Artikel konnte nicht vorgelesen werden.|Anhören ist derzeit nicht möglich
    Artikel-Player|Player anzeigen|Schließen|Sprachausgabe erlauben`,
  es: `Escuchar este artículo|Escuchar|Pausar|Reanudar|Reintentar|Párrafo anterior|Párrafo siguiente
    Posición|Párrafo {n} de {count}|Tiempo|Velocidad|Descargar|Copiar enlace a este momento|Enlace copiado|Con la tecnología de Voxledger
    Esperando…|No se pudo leer el artículo en voz alta.|El audio no está disponible en este momento
    Reproductor del artículo|Mostrar el reproductor|Cerrar|Permitir el audio`,
  fa: `گوش دادن به این مقاله|گوش دادن|مکث|ادامه|تلاش دوباره|بند قبلی|بند بعدی
    موقعیت|بند {n} از {count}|زمان|سرعت|بارگیری|کپی پیوند این لحظه|پیوند کپی شد|قدرت‌گرفته از Voxledger
    لطفاً صبر کنید…|خواندن مقاله با صدای بلند ممکن نشد.|گوش دادن اکنون در دسترس نیست
    پخش‌کنندهٔ مقاله|نمایش پخش‌کننده|بستن|اجازهٔ پخش صدا`,
  fr: `Écouter cet article|Écouter|Pause|Reprendre|Réessayer|Paragraphe précédent|Paragraphe suivant
    Position|Paragraphe {n} sur {count}|Temps|Vitesse|Télécharger|Copier le lien à cet instant|Lien copié|Propulsé par Voxledger
    En attente…|L’article n’a pas pu être lu à voix haute.|L’écoute est momentanément indisponible
    Lecteur de l’article|Afficher le lecteur|Fermer|Autoriser l’audio`,
  he: `האזנה לכתבה|האזנה|השהיה|המשך|ניסיון חוזר|הפסקה הקודמת|הפסקה הבאה
    מיקום|פסקה {n} מתוך {count}|זמן|מהירות|הורדה|העתקת קישור לרגע זה|הקישור הועתק|מופעל על ידי Voxledger
    בהמתנה…|לא ניתן היה להקריא את הכתבה.|ההאזנה אינה זמינה כרגע
    נגן הכתבה|הצגת הנגן|סגירה|אישור השמעה`,
  hi: `यह लेख सुनें|सुनें|रोकें|जारी रखें|फिर से कोशिश करें|पिछला पैराग्राफ़|अगला पैराग्राफ़
    स्थिति|{count} में से पैराग्राफ़ {n}|समय|गति|डाउनलोड करें|इस समय का लिंक कॉपी करें|लिंक कॉपी हो गया|Voxledger द्वारा संचालित
    प्रतीक्षा करें…|लेख पढ़कर नहीं सुनाया जा सका।|सुनने की सुविधा अभी उपलब्ध नहीं है
    लेख प्लेयर|प्लेयर दिखाएँ|बंद करें|ऑडियो चलाने की अनुमति दें`,
  id: `Dengarkan artikel ini|Dengarkan|Jeda|Lanjutkan|Coba lagi|Paragraf sebelumnya|Paragraf berikutnya
    Posisi|Paragraf {n} dari {count}|Waktu|Kecepatan|Unduh|Salin tautan pada waktu ini|Tautan disalin|Didukung oleh Voxledger
    Menunggu…|Artikel tidak dapat dibacakan.|Fitur dengar sedang tidak tersedia
    Pemutar artikel|Tampilkan pemutar|Tutup|Izinkan suara`,
  it: `Ascolta questo articolo|Ascolta|Pausa|Riprendi|Riprova|Paragrafo precedente|Paragrafo successivo
    Posizione|Paragrafo {n} di {count}|Tempo|Velocità|Scarica|Copia link a questo punto|Link copiato|Con tecnologia Voxledger
    Attendi…|Non è stato possibile leggere l’articolo ad alta voce.|L’ascolto non è al momento disponibile
    Lettore dell’articolo|Mostra il lettore|Chiudi|Consenti l’audio`,
  ja: `この記事を聴く|聴く|一時停止|再開|再試行|前の段落|次の段落
    再生位置|{count}段落中{n}番目|時間|再生速度|ダウンロード|この時点のリンクをコピー|リンクをコピーしました|提供: Voxledger
    お待ちください…|記事を読み上げられませんでした。|現在お聴きいただけません
    記事プレーヤー|プレーヤーを表示|閉じる|音声を許可`,
  ko: `이 기사 듣기|듣기|일시정지|계속|다시 시도|이전 문단|다음 문단
    재생 위치|{count}개 문단 중 {n}번째|시간|속도|다운로드|현재 시간 링크 복사|링크가 복사됨|Voxledger 제공
    기다려 주세요…|기사를 읽어 드릴 수 없습니다.|지금은 들을 수 없습니다
    기사 플레이어|플레이어 보기|닫기|음성 허용`,
  nl: `Luister naar dit artikel|Luisteren|Pauzeren|Hervatten|Opnieuw proberen|Vorige alinea|Volgende alinea
    Positie|Alinea {n} van {count}|Tijd|Snelheid|Downloaden|Link naar dit moment kopiëren|Link gekopieerd|Mogelijk gemaakt door Voxledger
    Even wachten…|Het artikel kon niet worden voorgelezen.|Luisteren is nu niet mogelijk
    Artikelspeler|Speler tonen|Sluiten|Geluid toestaan`,
  pl: `Posłuchaj tego artykułu|Słuchaj|Wstrzymaj|Wznów|Spróbuj ponownie|Poprzedni akapit|Następny akapit
    Pozycja|Akapit {n} z {count}|Czas|Szybkość|Pobierz|Kopiuj link do tego miejsca|Skopiowano link|Technologia: Voxledger
    Czekaj…|Nie udało się odczytać artykułu na głos.|Słuchanie jest teraz niedostępne
    Odtwarzacz artykułu|Pokaż odtwarzacz|Zamknij|Zezwól na dźwięk`,
  pt: `Ouvir este artigo|Ouvir|Pausar|Continuar|Tentar novamente|Parágrafo anterior|Próximo parágrafo
    Posição|Parágrafo {n} de {count}|Tempo|Velocidade|Baixar|Copiar link para este momento|Link copiado|Com tecnologia Voxledger
    Aguarde…|Não foi possível ler o artigo em voz alta.|O áudio não está disponível no momento
    Reprodutor do artigo|Mostrar o reprodutor|Fechar|Permitir áudio`,
  "pt-PT": `Ouvir este artigo|Ouvir|Pausar|Continuar|Tentar novamente|Parágrafo anterior|Parágrafo seguinte
    Posição|Parágrafo {n} de {count}|Tempo|Velocidade|Transferir|Copiar ligação para este momento|Ligação copiada|Com tecnologia Voxledger
    A aguardar…|Não foi possível ler o artigo em voz alta.|O áudio não está disponível de momento
    Leitor do artigo|Mostrar o leitor|Fechar|Permitir áudio`,
  ru: `Прослушать статью|Слушать|Пауза|Продолжить|Повторить|Предыдущий абзац|Следующий абзац
    Позиция|Абзац {n} из {count}|Время|Скорость|Скачать|Копировать ссылку на этот момент|Ссылка скопирована|Работает на Voxledger
    Подождите…|Не удалось озвучить статью.|Прослушивание сейчас недоступно
    Проигрыватель статьи|Показать проигрыватель|Закрыть|Разрешить звук`,
  tr: `Bu makaleyi dinle|Dinle|Duraklat|Devam et|Tekrar dene|Önceki paragraf|Sonraki paragraf
    Konum|{count} paragraftan {n}.|Süre|Hız|İndir|Bu anın bağlantısını kopyala|Bağlantı kopyalandı|Voxledger ile çalışır
    Bekleyin…|Makale sesli okunamadı.|Dinleme şu anda kullanılamıyor
    Makale oynatıcısı|Oynatıcıyı göster|Kapat|Sese izin ver`,
  uk: `Прослухати статтю|Слухати|Пауза|Продовжити|Спробувати ще раз|Попередній абзац|Наступний абзац
    Позиція|Абзац {n} з {count}|Час|Швидкість|Завантажити|Копіювати посилання на цей момент|Посилання скопійовано|Працює на Voxledger
    Зачекайте…|Не вдалося озвучити статтю.|Прослуховування зараз недоступне
    Програвач статті|Показати програвач|Закрити|Дозволити звук`,
  ur: `یہ مضمون سنیں|سنیں|روکیں|جاری رکھیں|دوبارہ کوشش کریں|پچھلا پیراگراف|اگلا پیراگراف
    مقام|{count} میں سے پیراگراف {n}|وقت|رفتار|ڈاؤن لوڈ کریں|اس وقت کا لنک کاپی کریں|لنک کاپی ہو گیا|تقویت یافتہ از Voxledger
    انتظار کریں…|مضمون پڑھ کر نہیں سنایا جا سکا۔|سننے کی سہولت ابھی دستیاب نہیں
    مضمون کا پلیئر|پلیئر دکھائیں|بند کریں|آواز چلانے کی اجازت دیں`,
  vi: `Nghe bài viết này|Nghe|Tạm dừng|Tiếp tục|Thử lại|Đoạn trước|Đoạn sau
    Vị trí|Đoạn {n} trên {count}|Thời gian|Tốc độ|Tải xuống|Sao chép liên kết tại thời điểm này|Đã sao chép liên kết|Được hỗ trợ bởi Voxledger
    Vui lòng đợi…|Không thể đọc thành tiếng bài viết.|Hiện không thể nghe
    Trình phát bài viết|Hiện trình phát|Đóng|Cho phép âm thanh`,
  zh: `收听本文|收听|暂停|继续|重试|上一段|下一段
    播放位置|第 {n} 段，共 {count} 段|时间|速度|下载|复制此时间点的链接|链接已复制|由 Voxledger 提供支持
    请稍候…|无法朗读本文。|暂时无法收听
    文章播放器|显示播放器|关闭|允许播放语音`,
  "zh-Hant": `收聽本文|收聽|暫停|繼續|重試|上一段|下一段
    播放位置|第 {n} 段，共 {count} 段|時間|速度|下載|複製此時間點的連結|已複製連結|由 Voxledger 提供技術支援
    請稍候…|無法朗讀本文。|目前無法收聽
    文章播放器|顯示播放器|關閉|允許播放語音`,
};

export const translatedLanguages: readonly string[] = Object.keys(translations);

/** The labels for a language tag of any region or script; undefined if its language has none. */
export const translationFor = (
  tag: string,
): { lang: string; labels: Partial<Record<LabelName, string>> } | undefined => {
  const locale = localeOf(tag);
  if (!locale) return undefined;
  const { language, script, region } = locale;
  // As in Unicode's CLDR, Portuguese is European in every region but Brazil.
  const variety = language === "pt" && region !== "BR" ? "pt-PT" : `${language}-${script}`;
  const lang = [variety, language].find((one) => Object.hasOwn(translations, one));
  if (lang === undefined) return undefined;
  const texts = translations[lang]?.split(/\s*[|\n]\s*/) ?? [];
  return { lang, labels: Object.fromEntries(names.map((name, index) => [name, texts[index]])) };
};

/** The language, and the script that it is usually written in in the tag's region. */
const localeOf = (tag: string): Intl.Locale | undefined => {
  try {
    return new Intl.Locale(tag.replaceAll("_", "-")).maximize();
  } catch {
    return undefined; // not a language tag
  }
};
