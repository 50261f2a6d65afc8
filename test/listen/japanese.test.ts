import { itSpeaksTheSame } from "../support/same-sound.ts";

describe("Kanji", () => {
  // Katakana where は or へ would look like a particle.
  itSpeaksTheSame("ja-JP", [
    ["今日はいい天気です。", "きょーわ いい てんきです。"],
    ["一人で東京へ行きました。", "ひとりで とーきょーえ いきました。"],
    ["二十日に会いましょう。", "ハツカに あいましょう。"],
    ["東京都に住んでいます。", "とーきょーとに すんでいます。"],
    ["私は学生です。", "わたしわ がくせいです。"],
    ["電車で新宿へ行った。", "でんしゃで しんじゅくえ いった。"],
    ["会議を行った。", "かいぎを おこなった。"],
    ["人々は「平和」を望む。", "ひとびとわ「ヘイワ」を のぞむ。"],
    ["日本は島国です。", "ニホンわ しまぐにです。"],
    ["三本のペンを買いました。", "さんぼんの ペンを かいました。"],
    ["田中さんと山田太郎さんが来ました。", "たなかさんと やまだたろーさんが きました。"],
    ["六百円になります。", "ろっぴゃくえんに なります。"],
    ["ご飯を食べる前に手を洗う。", "ゴハンを たべる まえに てを あらう。"],
    ["時々雨が降る。", "ときどき あめが ふる。"],
    ["佐々木さんは医者です。", "ささきさんわ いしゃです。"],
    ["薔薇の花が咲いた。", "ばらの ハナが さいた。"],
    ["大阪と京都は近い。", "おーさかと きょーとわ ちかい。"],
    ["新しい車を買うつもりです。", "あたらしい くるまを かうつもりです。"],
    ["10時に会議があります。", "10じに かいぎが あります。"],
    ["先生、質問があります！本当ですか？", "せんせい、しつもんが あります！ホントーですか？"],
    ["こんにちは、お元気ですか。", "こんにちわ、おげんきですか。"],
    ["５月３日は祝日です。", "5がつみっかわ しゅくじつです。"],
    ["<speak>今日は<break time='1s'/>雨。</speak>", "<speak>きょーわ<break time='1s'/>あめ。</speak>"],
    [
      "<speak><sub alias='東京'>TYO</sub>です</speak>",
      "<speak><sub alias='とーきょー'>TYO</sub>です</speak>",
    ],
    [
      "<speak><say-as interpret-as='characters'>山川</say-as></speak>",
      "<speak><say-as interpret-as='characters'>やまかわ</say-as></speak>",
    ],
  ]);
  itSpeaksTheSame("en-US", [
    ["Say 東京です now", '<speak>Say <lang xml:lang="ja-JP">とーきょーです </lang>now</speak>'],
    [
      '<speak>In <lang xml:lang="ja">東京</lang></speak>',
      '<speak>In <lang xml:lang="ja">とーきょー</lang></speak>',
    ],
    // In a text without kana they are Mandarin.
    ["In 東京", '<speak>In <lang xml:lang="zh-CN">東京</lang></speak>'],
  ]);
});
