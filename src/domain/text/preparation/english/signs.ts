import { pattern, type Rule } from "./rule.ts";

/** These match before and after a sign that has blanks around it, between names or numbers. */
const operand = "(?<=[\\p{L}\\p{N})\\]%°²³] )";
const next = "(?= [\\p{L}\\p{N}(\\[$£€.√π∞−-])";

export const signRules: readonly Rule[] = [
  [
    /(?<![\p{L}\p{N}+])(Ctrl|Alt|Shift|Cmd)\+(?=\S)/gu,
    ([, key]) => `${key === "Ctrl" ? "Control" : key === "Cmd" ? "Command" : key} plus `,
  ],
  [/(?<=\s)@(?=\s)/gu, () => "at"],
  [/(?<![\p{L}\p{N}])and\/or(?![\p{L}\p{N}])/gu, () => "and or"],
  [
    /(?<!&) ?&(?=[ \p{L}\p{N}])(?!#?\w+;)/gu,
    ({ index, input, 0: sign }) => (input[index + sign.length] === " " ? " and" : " and "),
  ],
  [pattern(operand, "(?:==?|:=)", next), () => "equals"],
  [pattern(operand, "≠|!=", next), () => "is not equal to"],
  [pattern(operand, "(?:<=|≤)", next), () => "is less than or equal to"],
  [pattern(operand, "(?:>=|≥)", next), () => "is greater than or equal to"],
  [pattern(operand, "<", next), () => "is less than"],
  [pattern(operand, ">", next), () => "is greater than"],
  [pattern(operand, "\\+", next), () => "plus"],
  [pattern(operand, "×", next), () => "times"],
  [/(?<=\d ?)\*(?= ?\d)/gu, () => " times "],
  [pattern(operand, "÷", next), () => "divided by"],
  [pattern("(?<=\\d )[−]", next), () => "minus"],
  [/(?<![\p{L}\p{N}~])(?:≈|~(?=\s?\d))\s?/gu, () => "approximately "],
];
