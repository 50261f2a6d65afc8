import { expect } from "chai";
import { chooseLabels, type LabelOverrides } from "../../../src/client/labels/labels.ts";
import { translatedLanguages, translationFor } from "../../../src/client/labels/translations.ts";
import { websiteConfig } from "../../../src/domain/accounts/website-config.ts";

const english = { listen: "Listen", close: "Close" };

const choose = (languages: string[], ...overrides: LabelOverrides[]) =>
  chooseLabels(languages, { english, overrides });

describe("the labels of players", () => {
  it("are translated completely into the most spoken languages", () => {
    const mostSpoken = ["ar", "bn", "de", "es", "fr", "hi", "it", "ja", "pt", "ru", "ur", "zh"];
    expect(translatedLanguages).to.include.members(mostSpoken);
    for (const lang of translatedLanguages) {
      const labels = translationFor(lang)?.labels ?? {};
      const config = { features: { webPlayer: { labels: { [lang]: labels } } } };
      const { features } = websiteConfig.parse(config); // each is a label that a website may set
      expect(Object.keys(labels), lang).to.have.length(22);
      expect(features.webPlayer.labels[lang], lang).to.deep.equal(labels);
      expect(labels.paragraph, lang).to.include("{n}").and.to.include("{count}");
      expect(new Set(Object.values(labels)), lang).to.have.property("size", 22);
    }
  });

  it("are those of the first language that has labels, or else English", () => {
    expect(choose(["fr-CA", "de"])).to.deep.equal({
      lang: "fr",
      dir: "ltr",
      labels: translationFor("fr")?.labels,
    });
    expect(choose(["cy", "ar-EG"])).to.include({ lang: "ar", dir: "rtl" });
    for (const languages of [[], [""], ["cy"], ["en-GB", "fr"], ["not a tag"]]) {
      expect(choose(languages)).to.deep.equal({ lang: "en", dir: "ltr", labels: english });
    }
  });

  it("follow the script of a region, former codes, and tags with an underscore", () => {
    const languages = ["zh", "zh-CN", "zh-TW", "zh-Hant", "zh-HK", "iw", "pt", "pt_BR", "pt-PT", "pt-AO"];
    expect(languages.map((tag) => choose([tag]).lang)).to.deep.equal([
      ...["zh", "zh", "zh-Hant", "zh-Hant", "zh-Hant", "he", "pt", "pt", "pt-PT", "pt-PT"],
    ]);
  });

  it("are replaced by those of a website and of a page, also in further languages", () => {
    const website = { fr: { listen: "Lire" }, "fr-CA": { close: "Ferme" }, cy: { listen: "Gwrando" } };
    const page = { fr: { listen: "Lis" }, ckb: { listen: "گوێ بگرە" } };
    expect(choose(["fr-CA"], website, page).labels).to.include({ listen: "Lis", close: "Ferme" });
    expect(choose(["fr"], website, page).labels).to.include({ listen: "Lis", close: "Fermer" });
    expect(choose(["cy-GB"], website, page)).to.deep.equal({
      lang: "cy",
      dir: "ltr",
      labels: { listen: "Gwrando", close: "Close" },
    });
    expect(choose(["ckb"], website, page)).to.include({ lang: "ckb", dir: "rtl" });
    expect(choose(["en-GB"], { en: { close: "Shut" } }).labels).to.deep.equal({ ...english, close: "Shut" });
  });
});
