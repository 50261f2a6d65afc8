"""One form for what may be written in several ways: "It's $5.50" and "it is five dollars and fifty cents" are the same words."""

import re

from whisper_normalizer.english import EnglishTextNormalizer

to_digits = EnglishTextNormalizer()

units = {
    "km/h": "kilometers per hour",
    "kph": "kilometers per hour",
    "mph": "miles per hour",
    "km": "kilometers",
    "kg": "kilograms",
    "cm": "centimeters",
    "mm": "millimeters",
    "ml": "milliliters",
    "mg": "milligrams",
    "lbs?": "pounds",
    "oz": "ounces",
    "ft": "feet",
    "hz": "hertz",
    "khz": "kilohertz",
    "mhz": "megahertz",
    "ghz": "gigahertz",
    "kwh": "kilowatt hours",
    "kw": "kilowatts",
    "kb": "kilobytes",
    "mb": "megabytes",
    "gb": "gigabytes",
    "tb": "terabytes",
    "°\\s?c": "degrees celsius",
    "°\\s?f": "degrees fahrenheit",
    "°": "degrees",
    "m²": "square meters",
    "km²": "square kilometers",
    "p": "pence",
}
signs = {
    "&": "and",
    "=": "equals",
    "×": "times",
    "÷": "divided by",
    "@": "at",
    "½": "one half",
    "¼": "one quarter",
    "¾": "three quarters",
    "1/2": "one half",
    "1/3": "one third",
    "2/3": "two thirds",
    "1/4": "one quarter",
    "3/4": "three quarters",
}
months = "january|february|march|april|may|june|july|august|september|october|november|december"
romans = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split()
numbered = "act|book|bowl|chapter|class|grade|level|mark|part|phase|scene|section|stage|title|type|volume|war"

# The recogniser writes these as it likes. `to_digits` would drop the sign, or take the letters for
# words.
before_digits = [
    (r"[’‘]", "'"),
    (r"[()\[\]]", " "),
    (r"\b([ap])\.\s?m\b\.?", r" \1m "),
    (r"\ba (?=(?:hundred|thousand|million|billion)\b)", "one "),
    (r"(?<![\w.])[-−–](?=[$€£]?\d)|(?<=\d)\s[-−–]\s(?=\d)", " minus "),
    (r"\+\s?(?=\d)", " plus "),
    (r"\bc\+\+", "c plus plus"),
    (r"\bc#", "c sharp"),
    # `to_digits` would drop these before amounts.
    (r"\b(minus|plus)\b", r"\1sign"),
    (r"\$1(?!\d|[.,]\d)|\b(?:one|1) dollar\b", " onedollar "),
    (r"£1(?!\d|[.,]\d)|\b(?:one|1) pound\b", " onepound "),
    (r"€1(?!\d|[.,]\d)|\b(?:one|1) euro\b", " oneeuro "),
    (r"(?<=\d)\s?x\s?(?=\d)", " times "),
    *((rf"(?<=\d)\s?(?:{unit})(?!\w)", f" {name} ") for unit, name in units.items()),
    *((rf"(?<![\d/]){re.escape(sign)}(?![\d/])" if "/" in sign else re.escape(sign), f" {word} ") for sign, word in signs.items()),
    (r"(?<=\d)\s?/\s?(?=\d)", " over "),
    (r"#\s?(?=\d)|\bno\.\s?(?=\d)", " number "),
    (r"\bvs\b\.?", " versus "),
    (r"\betc\b\.?", " et cetera "),
    (r"\b(\d+):00(?=\s*[ap]m\b)", r"\1"),
    (r"\b(\d+):00\b", r"\1 o'clock"),
    (r"\b(at (?:\d|1\d|2[0-3]))\.(?=[0-5]\d\b)|\b(\d|1\d|2[0-3])\.(?=[0-5]\d\s?[ap]m\b)", r"\1\2:"),
    (r"(?<=\d):0(?=\d)", " oh "),
    (r"(?<=\d):(?=\d)", " "),
    (r"(?<=[a-z])\.(?=[a-z]{2})", " dot "),
    (r"\band/or\b", "and or"),
    (r"(?<=[a-z])/(?=[a-z])", " slash "),
    (r"\ba (?=half\b|quarter\b)", "one "),
    # `to_digits` would take 3.0 for 3, and 0 for nothing.
    (r"(?<![\d.])0?\.(?=\d)", " zero point "),
    (r"(?<=\d)\.(?=\d)", " point "),
    (r"\bper\s?cent\b", " percent "),
    (r"\bnaught\b|\bnought\b", " zero "),
]
after_digits = [
    (r"\bone\b", "1"),
    (rf"\b(\d+)(?:st|nd|rd|th) of (?={months})", r"\1 of "),
    (rf"\b({months}) (?:the )?(\d+)(?:st|nd|rd|th)\b", r"\1 \2"),
    (rf"\b(\d+)(?:st|nd|rd|th) (?={months})", r"\1 "),
    (r"([£€$]\d+) (?:and )?(\d\d)(?: pence)?\b(?!\.)", r"\1.\2"),
    (r"\b(\d+)(?:st|nd|rd|th)? (?=half\b|halves\b|thirds?\b|quarters?\b)", r"\1 "),
    # The recogniser often writes a unit in the singular that was spoken in the plural, or the
    # reverse.
    (r"\b(kilometer|kilogram|centimeter|millimeter|milliliter|liter|meter|gram|mile|degree|hour|minute)s\b", r"\1"),
]


def without_romans(text: str) -> str:
    """Henry VIII is Henry the Eighth, and World War II is World War two."""

    def spoken(match: re.Match) -> str:
        name, roman = match[1], match[2]
        if roman not in romans:
            return match[0]
        number = romans.index(roman) + 1
        if re.fullmatch(numbered, name, re.IGNORECASE):
            return f"{name} {number}"
        return f"{name} the {number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number, 'th')}"

    # "I" alone is a word.
    return re.sub(r"\b([A-Z][a-z]+) ([IVX]{2,5}|V|X)\b(?!')", spoken, text)


def normalise(text: str) -> str:
    text = without_romans(text).lower()
    for pattern, written in before_digits:
        text = re.sub(pattern, written, text)
    text = to_digits(text)
    for pattern, written in after_digits:
        text = re.sub(pattern, written, text)
    return " ".join(text.split())


def same(one: str, other: str) -> bool:
    """Compares without blanks: "3:30" and "three thirty" have different numbers of words."""
    return normalise(one).replace(" ", "") == normalise(other).replace(" ", "")
