import { expect } from "chai";
import fc from "fast-check";
import { rewrite, unchanged } from "../../../../src/domain/text/mapped-text.ts";
import { englishWords, ruleGroups } from "../../../../src/domain/text/preparation/english/english.ts";
import { compiled } from "../../../../src/domain/text/preparation/english/rule.ts";
import { testSeed } from "../../../support/sample.ts";

const written = (text: string, lang: string): string =>
  englishWords(unchanged(text), { lang, tool: "espeak" }).text;

const dialects = ["american", "british"] as const;

type Row = readonly [text: string, written: string];

/** What stays as it is. */
const same = (...texts: readonly string[]): Row[] => texts.map((text) => [text, text]);

/** Texts and how they are read in American English, by their subject. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  "sums of money": [
    ["$8.5 millions, £3 Million", "eight point five million dollars, three million pounds"],
    ["its $1.4-billion fund", "its one point four billion dollar fund"],
    ["Rs 500 and Rs. 5 crore", "five hundred rupees and five crore rupees"],
    ["$0", "zero dollars"],
    ["$1,234.56", "one thousand two hundred thirty-four dollars and fifty-six cents"],
    ["$1.00 and $2.00", "one dollar and two dollars"],
    ["$.50", "fifty cents"],
    ["$1.01", "one dollar and one cent"],
    ["$0.005", "zero point zero zero five dollars"],
    ["£1", "one pound"],
    ["1p, 2p and 99p", "one penny, two pence and ninety-nine pence"],
    ["€5.50", "five euros and fifty cents"],
    ["5€ and 5 €", "five euros and five euros"],
    ["¥1,000", "one thousand yen"],
    ["₹1", "one rupee"],
    ["US$5", "five U.S dollars"],
    ["EUR 1,000.50", "one thousand euros and fifty cents"],
    ["10 CHF", "ten Swiss francs"],
    ["$3.5bn", "three point five billion dollars"],
    ["$1 billion", "one billion dollars"],
    ["$5–10 million", "five to ten million dollars"],
    ["£100k", "one hundred thousand pounds"],
    ["-$20 and $-20", "minus twenty dollars and minus twenty dollars"],
    ["an $8 meal", "an eight dollar meal"],
    ["a $5 and a pen", "a five dollars and a pen"],
    ["$15/hr", "fifteen dollars per hour"],
    ["£2/kg", "two pounds per kilogram"],
    ["1¢", "one cent"],
    ["$5.", "five dollars."],
    ...same("Type $HOME in A$ AP.", "The US$ is up.", "A 1080p film."),
  ],
  dates: [
    ["2026-01-02", "January second, twenty twenty-six"],
    ["2026/01/02", "January second, twenty twenty-six"],
    ["2026-11-26T09:30:00Z", "November twenty-sixth, twenty twenty-six nine thirty U.T.C"],
    ["1/2/26", "January second, twenty twenty-six"],
    ["1/2/84", "January second, nineteen eighty-four"],
    ["31.12.1999", "December thirty-first, nineteen ninety-nine"],
    ["on 11/26", "on November twenty-sixth"],
    ["on 9/11", "on nine eleven"],
    ["by 26/11", "by November twenty-sixth"],
    ["11/2026", "November twenty twenty-six"],
    ["Nov 26", "November twenty-sixth"],
    ["Nov. 26th, 2026.", "November twenty-sixth, twenty twenty-six."],
    ["26 Nov", "the twenty-sixth of November"],
    ["the 26 November 2026", "the twenty-sixth of November, twenty twenty-six"],
    ["the 26th of November", "the twenty-sixth of November"],
    ["3–5 May", "the third to the fifth of May"],
    ["July 3-5, 2026", "July third to fifth, twenty twenty-six"],
    ["26-Nov-2026", "the twenty-sixth of November, twenty twenty-six"],
    ["Sept. 2012", "September twenty twelve"],
    ["Tue, 3 Mar 2026", "Tuesday, the third of March, twenty twenty-six"],
    ["Mon, Wed & Fri", "Monday, Wednesday and Friday"],
    ["Sat/Sun", "Saturday Sunday"],
    ["Mon-Thu 9am", "Monday to Thursday nine a.m"],
    ["in Dec.", "in December."],
    ["2026-13-45", "two zero two six, one three, four five"],
    ...same(
      "You may go, and we may march.",
      "The sun sat on the sea. Sun and Sat.",
      "I met Jan. She is well.",
      "In the Mar the sea is calm.",
      "May I march on?",
      "The number 5 May be wrong.",
      "May 5 of them come?",
    ),
  ],
  times: [
    ["9:00", "nine o'clock"],
    ["9:05", "nine oh five"],
    ["17:00", "seventeen hundred"],
    ["23:59:59", "twenty-three fifty-nine and fifty-nine seconds"],
    ["12:30 AM", "twelve thirty a.m"],
    ["3 p.m. today", "three p.m today"],
    ["It is 3 p.m.", "It is three p.m."],
    ["at 3 pm. Then", "at three p.m. Then"],
    ["3.30pm", "three thirty p.m"],
    ["14:30 UTC", "fourteen thirty U.T.C"],
    ["9:30-10:30", "nine thirty to ten thirty"],
    ["2h15", "two hours fifteen minutes"],
    ["1h 1m 1s", "one hour one minute one second"],
    ["5m 30s", "five minutes thirty seconds"],
    ["John 3:16", "John three sixteen"],
    ...same("I am here, and so am I.", "EST is an acronym."),
  ],
  years: [
    ["in 2010", "in twenty ten"],
    ["In 1900, since 1066, circa 1500", "In nineteen hundred, since ten sixty-six, circa fifteen hundred"],
    ["(1999)", "(nineteen ninety-nine)"],
    ["© 2026", "© twenty twenty-six"],
    ["1914–18", "nineteen fourteen to eighteen"],
    ["between 1750 and 1800", "between seventeen fifty and eighteen hundred"],
    ["between 1815 to 1914", "between eighteen fifteen to nineteen fourteen"],
    ["Between 1923 and 1673", "Between nineteen twenty-three and sixteen seventy-three"],
    [
      "the years 1815, 1848 and 1871",
      "the years eighteen fifteen, eighteen forty-eight and eighteen seventy-one",
    ],
    ["1848 to 1871.", "eighteen forty-eight to eighteen seventy-one."],
    ["1248 to 1371 people", "1,248 to 1,371 people"],
    ["the 1674 Treaty, his 1793 trial", "the sixteen seventy-four Treaty, his seventeen ninety-three trial"],
    ["a 1250 page book, the 1861 people", "a 1,250 page book, the 1,861 people"],
    ["in 1992 to 26%", "in nineteen ninety-two to twenty-six percent"],
    ["in the 170s", "in the one hundred seventies"],
    ["the 2008 crisis", "the two thousand eight crisis"],
    ["the 1960s and '70s", "the nineteen sixties and seventies"],
    ["in his 30s", "in his thirties"],
    ["44 BC", "forty-four B.C"],
    ["300–200 BCE", "three hundred to two hundred B.C.E"],
    ["1999 people", "1,999 people"],
    ["2000 steps of 1500 men", "2,000 steps of 1,500 men"],
    ["in 2000 cases", "in 2,000 cases"],
    ["after 1536 steps, a total of 1984", "after 1,536 steps, a total of 1,984"],
    ["room 1204", "room 1,204"],
    ["flight 4711", "flight 4,711"],
  ],
  "ranges and results": [
    ["3–5, 10-20", "three to five, ten to twenty"],
    ["pp. 10–12", "pages ten to twelve"],
    ["1.5-2.5", "one point five to two point five"],
    ["0–0", "zero to zero"],
    ["10 - 3 = 7", "ten minus three equals 7"],
    ["5–10%", "five to ten percent"],
    ["10-15 kg", "ten to fifteen kilograms"],
    ...same("the F-16", "COVID-19", "a well-known fact", "version 5.2-1"),
    ["a 1-to-1 talk", "a one-to-1 talk"],
  ],
  "fractions, ratios and dimensions": [
    [
      "1/2, 1/3, 2/3, 1/4, 3/4, 5/8",
      "one half, one third, two thirds, one quarter, three quarters, five eighths",
    ],
    ["1 1/2", "one and a half"],
    ["3⅔", "three and two thirds"],
    ["5/4", "five over four"],
    ["50/50", "fifty-fifty"],
    ["4/5 stars", "four out of five stars"],
    ["1/2 lb", "one half pound"],
    ["2 1/2 lbs", "two and a half pounds"],
    ["16:10", "sixteen ten"],
    ["4:3", "four to three"],
    ["1920×1080", "nineteen twenty by ten eighty"],
    ["2 x 3 x 4 cm", "two by three by four centimeters"],
    ["3 × 4", "three times four"],
    ["10x faster", "ten times faster"],
    ["0x1F", "0x1F"],
  ],
  units: [
    ["1 kg and 0.5 kg", "one kilogram and zero point five kilograms"],
    ["a 5 km run and 5 km of road", "a five kilometer run and five kilometers of road"],
    ["a 5-kg bag", "a five kilogram bag"],
    ["5 kg/m²", "five kilograms per square meter"],
    ["9.8 m/s²", "nine point eight meters per second squared"],
    ["100km/h", "one hundred kilometers per hour"],
    ["10 MB/s", "ten megabytes per second"],
    ["6'2\" and 5′10″", "six foot two and five foot ten"],
    ['a 27" monitor', "a twenty-seven inch monitor"],
    ["6 ft. tall", "six feet tall"],
    ["It is 6 ft.", "It is six feet."],
    ["3 in. wide", "three inches wide"],
    ["8 fl. oz.", "eight fluid ounces."],
    ["500 sq. ft. of space", "five hundred square feet of space"],
    ["20 °C, 1° C, −3°F", "twenty degrees Celsius, one degree Celsius, minus three degrees Fahrenheit"],
    ["40° 26′ 46″ N", "forty degrees twenty-six minutes forty-six seconds north"],
    ["50 %", "fifty percent"],
    ["30s and 5 s", "thirty seconds and five seconds"],
    ["2 hrs, 1 min", "two hours, one minute"],
    ...same("5 in the box", "4K, 5G, MP3 and H2O", "Plan A", "5 A day", "the M3"),
  ],
  abbreviations: [
    ["on Baker St. He walked down the St.", "on Baker Street. He walked down the Street."],
    ["below St.", "below Street."],
    ["The Dr. said so. Call the Prof.", "The Doctor said so. Call the Professor."],
    ["Dr. No and Dr Who", "Doctor No and Doctor Who"],
    ["Mr. & Mrs. Smith", "Mister and Missus Smith"],
    ["Prof. Dr. Braun", "Professor Doctor Braun"],
    ["St. John lives at 5 St. John St. in York.", "Saint John lives at 5 Saint John Street in York."],
    [
      "He lives on Baker St. He is in St Paul, on Elm Rd. Go.",
      "He lives on Baker Street. He is in St Paul, on Elm Road. Go.",
    ],
    ["123 Main Dr. is here", "123 Main Drive is here"],
    ["5th Ave. and Elm Rd.", "fifth Avenue and Elm Road."],
    ["No. 5, no. 5, Nº 5, Nos. 3 and 4", "number 5, number 5, number 5, numbers 3 and 4"],
    ["No. It is not.", "no. It is not."],
    ["No. I will not.", "no. I will not."],
    ["approx 5, avg. 7", "approximately 5, average 7"],
    ["Sts. Peter and Paul", "Saints Peter and Paul"],
    ...same("Boeing 747s"),
    ["Vol. II, p. 5, ch. IV", "volume two, page 5, chapter four"],
    ["i.e., e.g., etc.", "that is, for example, et cetera."],
    ["A vs. B, A vs B", "A versus B, A versus B"],
    ["Smith et al. say", "Smith et al say"],
    ["Acme Corp. and Foo Ltd.", "Acme Corporation and Foo Limited."],
    ["the US army", "the U.S army"],
    ["a Ph.D. student, her B.A. in art", "a P.H.D student, her B.A. in art"],
    ["Sammy Davis Jr. sang", "Sammy Davis Junior sang"],
    ["tea w/ milk, w/o sugar", "tea with milk, without sugar"],
    ["tel. 5, ext. 7", "telephone 5, extension 7"],
    ["Ca. 5, pls. go", "circa 5, please go"],
    ...same(
      "Sing Ave Maria",
      "I e. x",
      "Go. No way.",
      "He is an ed student",
      "St Andrews",
      "in. out.",
      "ABOUT US",
    ),
  ],
  "abbreviations that could be words": [
    ["Vol. I was lost, Sec. I has it", "volume one was lost, section one has it"],
    ["Fig. I shows the curve, Vols. I through III", "figure I shows the curve, volumes I through III"],
    ...same("Do a Rep"),
  ],
  "abbreviations without a period": [
    ["Is Prof Smith here?", "Is Professor Smith here?"],
    ["Climb Mt Everest", "Climb Mount Everest"],
    ["Capt Cook and Sgt Pepper", "Captain Cook and Sergeant Pepper"],
    ["See figs 3 and 4", "See figures 3 and 4"],
    ["Vol 2, Vol I", "volume 2, volume one"],
    ["nos 5 and 6, pp 3 to 5", "numbers 5 and 6, pages 3 to 5"],
    ["approx 5 km", "approximately five kilometers"],
    ["She has a PhD", "She has a P.H.D"],
    ["Acme Ltd", "Acme Limited"],
    ["123 Main St", "123 Main Street"],
    ["12 Oak Rd, London", "12 Oak Road, London"],
    ["Call the Gov", "Call the Governor"],
    ...same(
      "The figs I ate",
      "We ate figs. I liked them. Wait a sec. I'll come",
      "We ate figs and dates",
      "Turn the vol up",
      "the mt of a letter",
      "the prof said no",
      "St Paul",
    ),
  ],
  "Roman numerals": [
    ["Henry VIII, Elizabeth I.", "Henry the eighth, Elizabeth the first."],
    ["Louis XVI was, Pope John Paul II is", "Louis the sixteenth was, Pope John Paul the second is"],
    ["Chapter IV, Part V, Act I.", "Chapter four, Part five, Act one."],
    ["World War I and II", "World War one and II"],
    ["Final Fantasy VII, Rocky IV", "Final Fantasy seven, Rocky four"],
    ["Super Bowl XLIX", "Super Bowl forty-nine"],
    ...same(
      "John and I",
      "Henry I know",
      "a CD, a DVD, MIX and XL",
      "Malcolm X",
      "Vitamin C",
      "Part C",
      "an IV drip",
    ),
  ],
  "telephone numbers and codes": [
    ["+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"],
    ["1-800-555-1234", "one, eight zero zero, five five five, one two three four"],
    ["555.123.4567", "five five five, one two three, four five six seven"],
    ["(020) 7946 0958", "zero two zero, seven nine four six, zero nine five eight"],
    ["123-45-6789", "one two three, four five, six seven eight nine"],
    ["CA 94043", "CA nine four zero four three"],
    ["the code is 1234", "the code is one two three four"],
    ["0042 and 4155551234", "zero zero four two and four one five five five five one two three four"],
    [
      "200-1000 and 200-1234 days, +100",
      "two hundred to one thousand and two hundred to one thousand two hundred thirty-four days, plus one hundred",
    ],
    ["order number 12345, order 12345 pens", "order number one two three four five, order 12345 pens"],
    ...same("1000000000", "12345 and 123456"),
  ],
  "addresses and names": [
    ["info@example.com.", "info at example dot com."],
    ["<a.b-c@mail.example.co.uk>", "<a dot b dash c at mail dot example dot co dot U.K>"],
    ["https://www.example.com/a-b?x=1", "example dot com slash a dash b question mark x equals one"],
    ["(http://example.org/)", "(example dot org)"],
    ["http://localhost:8080/", "localhost colon eight thousand eighty"],
    ["https://a.io/x?utm_source=mail&utm_campaign=spring", "a dot I.O slash x"],
    ["index.html, a/b_c.ts", "index dot H.T.M.L, a slash b underscore c dot T.S"],
    ["/usr/local/bin", "slash usr slash local slash bin"],
    [
      "v2, v2.0.1, 1.2.3-beta.4",
      "version two, version two point zero point one, one point two point three beta four",
    ],
    ["192.168.0.1:80", "one nine two dot one six eight dot zero dot one colon eight zero"],
    ["#BlackLivesMatter #ai2026", "hashtag Black Lives Matter hashtag ai twenty twenty-six"],
    ["#1 @types/node", "number one at types slash node"],
    ["C++, C#, .NET, ASP.NET, Node.js", "C plus plus, C sharp, dot net, ASP dot net, Node dot J.S"],
    ["AT&T and R&D", "AT and T and R and D"],
    ...same("and so on...", "he/she", "yes.No", "the V8 engine", "#", "@", "a@b"),
  ],
  "signs and numbers": [
    ["x = 5, a < b, c >= d", "x equals 5, a is less than b, c is greater than or equal to d"],
    [
      "10^6, x^2, 2^-3, 10⁶, x³",
      "ten to the power of six, x squared, two to the power of minus three, ten to the power of six, x cubed",
    ],
    [
      "1e6, 1.5e-3",
      "one times ten to the power of six, one point five times ten to the power of minus three",
    ],
    ["~5 and ≈5", "approximately 5 and approximately 5"],
    ["-5, −5 and +5", "minus five, minus five and plus five"],
    ["0.5, .5, 3.0, 3.14", "zero point five, zero point five, three point zero, three point one four"],
    [
      "1st, 2nd, 3rd, 4th, 11th, 21st, 100th",
      "first, second, third, fourth, eleventh, twenty-first, one hundredth",
    ],
    ["Meet @ 8 & press Ctrl+C", "Meet at 8 and press Control plus C"],
    ["1.2 million and 5M", "one point two million and five million"],
    ["a 5-year-old, 3-day", "a five-year-old, three-day"],
    ...same("1,234,567 and 5", "11st", "<b>bold</b>", "CVE-2025-27613", "7350e36"),
  ],
  "powers without digits": [
    ["x², x^n", "x squared, x to the power of n"],
    ["kg/m²", "kg/m squared"],
  ],
};

describe("An English text", () => {
  for (const [kind, all] of Object.entries(rows)) {
    it(`is written in words: ${kind}`, () => {
      expect(all.map(([text]) => [text, written(text, "en-US")])).to.deep.equal(all);
    });
  }

  it("is read alike with and without a full stop at its end, if its abbreviations have none", () => {
    const texts = (rows["abbreviations without a period"] ?? [])
      .map(([text]) => text)
      .filter((text) => !text.endsWith("?"));
    expect(texts.map((text) => written(`${text}.`, "en-US"))).to.deep.equal(
      texts.map((text) => `${written(text, "en-US")}.`),
    );
  });

  it(`is changed by no rule of a group that skips it (seed ${testSeed})`, () => {
    const words = [
      ...new Set(
        Object.values(rows)
          .flat(2)
          .flatMap((text) => text.split(" ")),
      ),
    ];
    const anyText = fc
      .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(" ", " ", "\t", "\n", "\u00a0")), {
        minLength: 1,
        maxLength: 6,
      })
      .map((parts) => parts.flat().join("").trim());
    fc.assert(
      fc.property(anyText, (text) => {
        const changing = ruleGroups
          .filter(({ needs }) => needs?.test(text) === false)
          .flatMap(({ rules }) => rules)
          .filter(([pattern, say]) =>
            dialects.some(
              (dialect) =>
                rewrite(unchanged(text), compiled(pattern), (match) => say(match, dialect)).text !== text,
            ),
          );
        expect(changing.map(([pattern]) => compiled(pattern))).to.deep.equal([]);
      }),
      { seed: testSeed, numRuns: 3_000 },
    );
  });
});
